package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
)

// User is somebody who may sign in.
type User struct {
	Name         string `gorm:"primaryKey"`
	PasswordHash string // bcrypt
	Role         string // viewer, operator or admin
	CreatedAt    int64  `gorm:"autoCreateTime:false"`
}

// TableName is gorm's.
func (User) TableName() string { return "users" }

// ErrNoUser says that there is no user of that name.
var ErrNoUser = errors.New("no such user")

// User finds a user by name; [ErrNoUser] otherwise.
func (s *Store) User(ctx context.Context, name string) (User, error) {
	var u User
	err := s.read.WithContext(ctx).Where("name = ?", name).Take(&u).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return User{}, fmt.Errorf("%w: %s", ErrNoUser, name)
	}
	return u, err
}

// Users lists everybody who may sign in, by name.
func (s *Store) Users(ctx context.Context) ([]User, error) {
	var all []User
	return all, s.read.WithContext(ctx).Order("name").Find(&all).Error
}

// PutUser adds a user or replaces password and role of one that is there.
func (s *Store) PutUser(ctx context.Context, u User) error {
	if u.CreatedAt == 0 {
		u.CreatedAt = micros(s.now())
	}
	return s.inTurn(ctx, func(tx *transaction) error { return tx.Save(&u).Error })
}

// RemoveUser removes a user; [ErrNoUser] when there is none.
func (s *Store) RemoveUser(ctx context.Context, name string) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		q := tx.Where("name = ?", name).Delete(&User{})
		if q.Error == nil && q.RowsAffected == 0 {
			return fmt.Errorf("%w: %s", ErrNoUser, name)
		}
		return q.Error
	})
}
