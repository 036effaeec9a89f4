import type { z } from 'zod'
import { ACCESS_ROUTES, LIVE_ROUTES } from './resources/access/access.ts'
import { AUDIT_ROUTES } from './resources/access/audit.ts'
import { TOKEN_ROUTES } from './resources/access/tokens.ts'
import { DELIVERY_ROUTES } from './resources/deliveries.ts'
import { ENDPOINT_ROUTES } from './resources/endpoints.ts'
import { EVENT_ROUTES } from './resources/events.ts'
import { FAILURE_ROUTES } from './resources/failures.ts'
import { OPERATION_ROUTES } from './resources/operations.ts'
import { RUN_ROUTES } from './resources/runs.ts'
import { APPROVAL_ROUTES } from './resources/safety/approvals.ts'
import { APPROVER_ROUTES } from './resources/safety/approvers.ts'
import { EFFECT_ROUTES } from './resources/safety/effects.ts'
import { HOOK_ROUTES } from './resources/safety/hooks.ts'
import { SCHEDULE_ROUTES } from './resources/schedules.ts'
import { ACCOUNT_ROUTES } from './resources/service/accounts.ts'
import { FILE_ROUTES } from './resources/service/files.ts'
import { SUBJECT_ROUTES } from './resources/subjects.ts'
import { ALERT_ROUTES } from './resources/system/alerts.ts'
import { COVERAGE_ROUTES } from './resources/system/coverage.ts'
import { PRIVACY_ROUTES } from './resources/system/privacy.ts'
import { SYSTEM_ROUTES } from './resources/system/system.ts'
import { UPKEEP_ROUTES } from './resources/system/upkeep.ts'
import { WORKFLOW_ROUTES } from './resources/workflows.ts'
import type { ParamsOf, RouteTable } from './route.ts'

/**
 * Every operation of the admin API. The table makes the Express routes, their role checks and audit
 * rows, the OpenAPI document and the client's types.
 */
export const ROUTES = {
  ...ACCESS_ROUTES,
  ...RUN_ROUTES,
  ...HOOK_ROUTES,
  ...FAILURE_ROUTES,
  ...EVENT_ROUTES,
  ...DELIVERY_ROUTES,
  ...WORKFLOW_ROUTES,
  ...SCHEDULE_ROUTES,
  ...APPROVAL_ROUTES,
  ...APPROVER_ROUTES,
  ...EFFECT_ROUTES,
  ...COVERAGE_ROUTES,
  ...SUBJECT_ROUTES,
  ...ENDPOINT_ROUTES,
  ...ACCOUNT_ROUTES,
  ...FILE_ROUTES,
  ...TOKEN_ROUTES,
  ...AUDIT_ROUTES,
  ...OPERATION_ROUTES,
  ...ALERT_ROUTES,
  ...SYSTEM_ROUTES,
  ...UPKEEP_ROUTES,
  ...PRIVACY_ROUTES,
  ...LIVE_ROUTES,
} as const satisfies RouteTable

export type Routes = typeof ROUTES

/** Method and path of an operation, such as `GET /runs/:id`. */
export type RouteName = keyof Routes

type Given<Spec, Part extends 'query' | 'body'> = Spec extends { [Name in Part]: infer Schema extends z.ZodType }
  ? { [Name in Part]: z.input<Schema> }
  : unknown
type Taken<Spec, Part extends 'query' | 'body'> = Spec extends { [Name in Part]: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : undefined

/** The input of an operation as a client gives it: path parameters, query and body. */
export type InputOf<Name extends RouteName> = ([keyof ParamsOf<Name>] extends [never]
  ? unknown
  : { params: ParamsOf<Name> }) &
  Partial<Given<Routes[Name], 'query'>> &
  Given<Routes[Name], 'body'>

/** The checked input of an operation, as its handler gets it. */
export interface TakenBy<Name extends RouteName> {
  params: ParamsOf<Name>
  query: Taken<Routes[Name], 'query'>
  body: Taken<Routes[Name], 'body'>
}

/** The answer of an operation; undefined where it is 204. */
export type AnswerOf<Name extends RouteName> = Routes[Name]['answer'] extends z.ZodType
  ? z.output<Routes[Name]['answer']>
  : undefined
