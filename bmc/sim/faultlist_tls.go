package sim

// Of Redfish over TLS. Each cuts the connections that there are, as a web server does that restarts.
const (
	FaultCertificateExpired    Fault = "certificate-expired"
	FaultCertificateRenewed    Fault = "certificate-renewed"
	FaultCertificateSelfSigned Fault = "certificate-self-signed"
	FaultCertificateName       Fault = "certificate-name"
	FaultOldTLS                Fault = "old-tls"
	FaultRSAKeyExchange        Fault = "rsa-key-exchange"
	FaultPlainHTTP             Fault = "plain-http"
)

var tlsFaults = []FaultInfo{
	{Fault: FaultCertificateExpired, Steady: true, What: "Its certificate has expired."},
	{Fault: FaultCertificateRenewed, Steady: true, What: "Shows another certificate than before, of the same CA.", Like: "firmware updates"},
	{Fault: FaultCertificateSelfSigned, Steady: true, What: "Shows another certificate than before, signed by itself.", Like: "factory resets"},
	{Fault: FaultCertificateName, Steady: true, What: "Its certificate is made out to another name."},
	{Fault: FaultOldTLS, Steady: true, What: "Speaks TLS 1.0 and 1.1 alone.", Like: "old machines"},
	{Fault: FaultRSAKeyExchange, Steady: true, What: "Speaks TLS 1.2 with RSA key exchange alone.", Like: "old machines"},
	{Fault: FaultPlainHTTP, Steady: true, What: "Speaks plain HTTP at the port of TLS."},
}
