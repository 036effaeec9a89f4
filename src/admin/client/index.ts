export type { Problem } from '../contract/route.ts'
export type { AnswerOf, InputOf, RouteName } from '../contract/routes.ts'
export { AdminApiError, AdminClient, type AdminClientOptions, type AnyInput, type CallOptions } from './admin-client.ts'
