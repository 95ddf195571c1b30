export {
  type BlockTag,
  type Client,
  type ClientOptions,
  createClient,
  type ProofRequest,
  type StateRequest,
} from './rpc/client.ts'
export { diagnose } from './rpc/diagnose.ts'
export { type EndpointError, RpcError, type RpcErrorCode, rpcAdvice } from './rpc/error.ts'
export { createHttpProvider, endpointUrl, type HttpOptions } from './rpc/http.ts'
export type { Provider } from './rpc/provider.ts'
