package sim

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"sync"
	"time"
)

// authority is the CA of a rack. All BMCs share a key, because keys are dear and these protect nothing; each has a certificate of
// its own, made when it is first asked for.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	leafKey     *ecdsa.PrivateKey
	oldKey      func() (*rsa.PrivateKey, error) // of BMCs that know nothing newer
}

// newAuthority makes a CA that nobody has seen before.
func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: newSerial(), Subject: pkix.Name{Organization: []string{"Cagenut simulator"}, CommonName: "CA of simulated BMCs"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{
		certificate: certificate, key: key, leafKey: leafKey,
		oldKey: sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }),
	}, nil
}

func newSerial() *big.Int {
	var b [16]byte
	_, _ = rand.Read(b[:])  // it never fails
	b[0] = b[0]&0x7f | 0x40 // positive, and of full length
	return new(big.Int).SetBytes(b[:])
}

func encodePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// CA is the certificate, in PEM, of the CA that signs the BMCs' certificates, made anew at every Start. Nil without Options.TLS.
func (r *Rack) CA() []byte {
	if r.authority == nil {
		return nil
	}
	return encodePEM(r.authority.certificate.Raw)
}

// makeAuthority makes the CA and writes its certificate where the options say.
func (r *Rack) makeAuthority() (err error) {
	if r.authority, err = newAuthority(); err != nil {
		return fmt.Errorf("sim: make a CA: %w", err)
	}
	if r.options.CAFile == "" {
		return nil
	}
	if err := os.WriteFile(r.options.CAFile, r.CA(), 0o644); err != nil {
		return fmt.Errorf("sim: write the CA's certificate: %w", err)
	}
	return nil
}

// tlsWay is how a BMC does TLS, after its faults.
type tlsWay struct{ expired, renewed, selfSigned, otherName, old, rsaKeyExchange bool }

func (s *Server) tlsWay() tlsWay {
	return tlsWay{
		expired: s.has(FaultCertificateExpired), renewed: s.has(FaultCertificateRenewed), selfSigned: s.has(FaultCertificateSelfSigned),
		otherName: s.has(FaultCertificateName), old: s.has(FaultOldTLS), rsaKeyExchange: s.has(FaultRSAKeyExchange),
	}
}

// issue makes the certificate of a BMC.
func (a *authority) issue(host string, way tlsWay) (tls.Certificate, error) {
	var key crypto.Signer = a.leafKey
	if way.old || way.rsaKeyExchange {
		old, err := a.oldKey()
		if err != nil {
			return tls.Certificate{}, err
		}
		key = old
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: newSerial(), Subject: pkix.Name{Organization: []string{"Cagenut simulator"}, CommonName: host},
		NotBefore: now.AddDate(-1, 0, 0), NotAfter: now.AddDate(5, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.ParseIP(host)},
	}
	if way.otherName {
		template.Subject.CommonName, template.IPAddresses, template.DNSNames = otherName, nil, []string{otherName}
	}
	if way.expired {
		template.NotAfter = now.AddDate(0, 0, -1)
	}
	parent, signer := a.certificate, crypto.Signer(a.key)
	if way.selfSigned {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// otherName is whose certificate a BMC shows that has the wrong one.
const otherName = "bmc.example.org"
