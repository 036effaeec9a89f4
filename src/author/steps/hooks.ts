import type { z } from 'zod'
import type { SchemePreset, SignatureScheme } from '../../core/incoming/signature.ts'
import type { Duration } from '../../core/time.ts'

/** Options of `step.hook`. */
export interface HookOptions<Schema extends z.ZodType = z.ZodType> {
  /** Time in which answers are taken, from the step's start on. */
  expires: Duration
  /**
   * Schema of an answer. One that does not fit is refused with 422, and the run waits on. The
   * receiver checks it by its JSON Schema. Default: any JSON.
   */
  data?: Schema
  /**
   * How the sender signs. An answer with another signature is refused with 401. Default: the URL
   * alone proves who answers.
   */
  sign?: {
    /** The name of a preset, or the scheme in parts. */
    scheme: SchemePreset | Partial<SignatureScheme>
    /** The sender's secret, as text. */
    secret: string
  }
  /**
   * The question for people who open the URL in a browser, 1 to 500 characters. Default: a page
   * without a form.
   */
  ask?: string
}

/** A callback URL that this run waits at. Made by `step.hook`. */
export interface Hook<Data = unknown, Many extends boolean = boolean> {
  /** Tells hooks from other things to wait for. */
  kind: 'hook'
  /** Id of the hook, `hok_…`; no secret. */
  id: string
  /** The address for `POST`. Everybody who knows it may answer. */
  url: string
  /** When it takes answers no longer, in epoch milliseconds. */
  expiresAt: number
  /** True: it takes any number of answers, for `step.receive`. */
  many: Many
  /** Never set: carries the type of an answer. */
  carries?: Data
}

/** An answer of a hook. */
export interface HookAnswer<Data = unknown> {
  /** The answer, parsed by the schema of the hook. */
  data: Data
  /** When it came, in epoch milliseconds. */
  receivedAt: number
  /** Id of the delivery, `dlv_…`; null where a person answered with `upshot runs answer`. */
  delivery: string | null
  /** Name of that person; null for an answer to the URL. */
  by: string | null
}
