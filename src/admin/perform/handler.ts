import type { Request, Response } from 'express'
import type { z } from 'zod'
import type { AuditedAction, AuditOutcome, Operator } from '../../core/safety/audit.ts'
import type { OperatorWrites } from '../../core/store/operator-writes.ts'
import type { Caller } from '../access/caller.ts'
import type { WorkDone } from '../contract/route.ts'
import type { RouteName, Routes, TakenBy } from '../contract/routes.ts'
import type { Bytes } from '../ports/surroundings.ts'

/** A checked call of an operation, from whichever door. */
export interface Call<Name extends RouteName> extends TakenBy<Name> {
  caller: Caller
  /** The caller as the audit log names them, with their reason. */
  operator: Operator
  /** The writes of the caller, each with its audit row in the same commit; null: no action. */
  writes: Routes[Name] extends { audit: string } ? OperatorWrites : null
  /** Appends the row of an action that acts outside the store; default outcome: `begun`. */
  record: (target: string | null, parameters?: AuditedAction['parameters'], outcome?: AuditOutcome) => Promise<unknown>
  /** Epoch milliseconds, the same for the whole call. */
  now: number
  /** Aborts when the asker goes away. */
  signal: AbortSignal
  /** False once the login of the asker is over: a stream may outlive it. */
  mayGoOn: () => Promise<boolean>
  /** Tells the asker how far a long operation is. */
  tell: (work: WorkDone) => void
  /** The key of a call that is done once, where the asker gave one. */
  onceKey: string | null
}

/** A call over HTTP, for the operations that have no other door: a login, a live feed. */
type HttpCall<Name extends RouteName> = Call<Name> & { request: Request; response: Response }

type Answer<Name extends RouteName> = Routes[Name] extends { form: 'bytes' }
  ? Bytes
  : Routes[Name] extends { form: 'events' }
    ? AsyncIterable<unknown>
    : Routes[Name]['answer'] extends z.ZodType
      ? z.input<Routes[Name]['answer']>
      : undefined

/** Performs one operation. Undefined for 204. */
type Handler<Name extends RouteName> = (call: Call<Name>) => Promise<Answer<Name>>

export type Handlers<Names extends RouteName = RouteName> = { [Name in Names]: Handler<Name> }

/** Handlers of operations that answer through Express themselves. */
export type HttpHandlers<Names extends RouteName> = {
  [Name in Names]: (call: HttpCall<Name>) => Promise<Answer<Name> | undefined>
}

/** A handler, whatever it performs. */
export type AnyHandler = (call: never) => Promise<unknown>
