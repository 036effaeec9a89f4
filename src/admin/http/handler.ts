import type { Request, Response } from 'express'
import type { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import type { RouteName, Routes, TakenBy } from '../contract/routes.ts'

/** A checked request. */
export interface Call<Name extends RouteName> extends TakenBy<Name> {
  caller: Caller
  /** Epoch milliseconds, the same for the whole request. */
  now: number
  /** Aborts when the client goes away. */
  signal: AbortSignal
  /** Id of the request. */
  id: string
  /** For routes whose answer is no JSON, and those that set headers. */
  request: Request
  response: Response
}

type Answer<Name extends RouteName> = Routes[Name]['answer'] extends z.ZodType
  ? z.input<Routes[Name]['answer']>
  : undefined

/** Performs one operation. Undefined for 204, and where it has written its answer itself. */
export type Handler<Name extends RouteName> = (call: Call<Name>) => Promise<Answer<Name>>

/** Handlers by route. */
export type Handlers<Names extends RouteName = RouteName> = { [Name in Names]: Handler<Name> }
