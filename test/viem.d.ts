/** Types of the browser that viem's declarations name and Node's lack. The tests use none of them. */
type CryptoKey = object
type AuthenticatorAttestationResponse = object
type AuthenticationExtensionsClientOutputs = object
