package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"cagenut/node"
)

// User is somebody who may sign in.
type User struct {
	Name         string `gorm:"primaryKey"`
	PasswordHash string // bcrypt
	Role         string // viewer, operator or admin
	CreatedAt    int64  `gorm:"autoCreateTime:false"`
	SignedInAt   int64  // the last time; 0: never
}

// TableName is gorm's.
func (User) TableName() string { return "users" }

// adminRole is the role of those who may change users.
const adminRole = "admin"

func noUser(name string) error { return &node.NotFound{What: "User", Ident: name} }

// User finds a user by name; *node.NotFound otherwise.
func (s *Store) User(ctx context.Context, name string) (User, error) {
	return findUser(s.read.WithContext(ctx), name)
}

func findUser(db *gorm.DB, name string) (User, error) {
	var u User
	err := db.Where("name = ?", name).Take(&u).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return User{}, noUser(name)
	}
	if err != nil {
		return User{}, fmt.Errorf("find user: %w", err)
	}
	return u, nil
}

// Users lists everybody who may sign in, by name.
func (s *Store) Users(ctx context.Context) ([]User, error) {
	var all []User
	if err := s.read.WithContext(ctx).Order("name").Find(&all).Error; err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	return all, nil
}

// AddUser adds a user; *node.Exists when the name is taken.
func (s *Store) AddUser(ctx context.Context, u User, a node.Audit) error {
	if u.CreatedAt == 0 {
		u.CreatedAt = micros(s.now())
	}
	return s.inTurn(ctx, func(tx *transaction) error {
		err := tx.Create(&u).Error
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return &node.Exists{Text: fmt.Sprintf("A user with the name %s already exists.", u.Name), Name: true}
		}
		if err != nil {
			return fmt.Errorf("add user: %w", err)
		}
		return tx.audit(a)
	})
}

// UserChange is what [Store.ChangeUser] sets; what is "" stays.
type UserChange struct{ PasswordHash, Role string }

// ChangeUser changes a user and signs them out everywhere. The last admin stays one (*node.Conflict).
func (s *Store) ChangeUser(ctx context.Context, name string, to UserChange, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		u, err := findUser(tx.DB, name)
		if err != nil {
			return err
		}
		set := map[string]any{}
		if to.PasswordHash != "" {
			set["password_hash"] = to.PasswordHash
		}
		if to.Role != "" && to.Role != u.Role {
			if err := tx.keepAnAdmin(u); err != nil {
				return err
			}
			set["role"] = to.Role
		}
		if len(set) > 0 {
			if _, err := tx.cas(&User{}, set, "name = ?", name); err != nil {
				return fmt.Errorf("change user: %w", err)
			}
			if _, err := tx.endSessions(name); err != nil {
				return err
			}
		}
		return tx.audit(a)
	})
}

// RemoveUser removes a user and signs them out everywhere; *node.NotFound when there is none. The last admin stays
// (*node.Conflict).
func (s *Store) RemoveUser(ctx context.Context, name string, a node.Audit) error {
	return s.inTurn(ctx, func(tx *transaction) error {
		u, err := findUser(tx.DB, name)
		if err != nil {
			return err
		}
		if err := tx.keepAnAdmin(u); err != nil {
			return err
		}
		if err := tx.Where("name = ?", name).Delete(&User{}).Error; err != nil {
			return fmt.Errorf("remove user: %w", err)
		}
		if _, err := tx.endSessions(name); err != nil {
			return err
		}
		return tx.audit(a)
	})
}

// keepAnAdmin refuses to lose u where nobody else could put it right again.
func (tx *transaction) keepAnAdmin(u User) error {
	if u.Role != adminRole {
		return nil
	}
	var others int64
	if err := tx.Model(&User{}).Where("role = ? AND name <> ?", adminRole, u.Name).Count(&others).Error; err != nil {
		return fmt.Errorf("count admins: %w", err)
	}
	if others == 0 {
		return &node.Conflict{Text: fmt.Sprintf("%s is the last admin: make somebody else an admin first.", u.Name)}
	}
	return nil
}
