/** Browser types that viem's declarations refer to and Node's types lack. The tests use none of them. */
type CryptoKey = object
type AuthenticatorAttestationResponse = object
type AuthenticationExtensionsClientOutputs = object
