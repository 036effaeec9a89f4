import { z } from 'zod'
import type { SavedSettings } from './saved-settings.ts'

/** Which of the two described forms replies take; `mixed`: chosen per request from the seed. */
export const FORMS = ['primary', 'alternative', 'mixed'] as const

/** Requests per minute and burst as the service's plans say; `unlimited` is ours. */
export const PLANS = ['free', 'pro', 'enterprise', 'unlimited'] as const

/**
 * What can be changed while the sandbox runs, and is kept. Each switch decides one point of the
 * specification.
 */
export const sandboxSettings = z.strictObject({
  form: z.enum(FORMS),
  plan: z.enum(PLANS),
  /** Lists carry `pagination`. */
  pagination: z.boolean(),
  /** Which of the two list endpoints answer; the other is 404. */
  listEndpoint: z.enum(['both', 'primary', 'alternative']),
  /**
   * `service` must be written as the form says: without an underscore in the primary, with one in
   * the alternative.
   */
  strictServiceNames: z.boolean(),
  /** A 429 carries the `X-RateLimit-*` headers. */
  rateHeaders: z.boolean(),
  /** A 429 carries `Retry-After`. */
  retryAfter: z.boolean(),
  /** Successful replies carry the `X-RateLimit-*` headers, too. */
  rateHeadersOnSuccess: z.boolean(),
  /** A folder can be deleted, with everything in it. */
  deleteFolders: z.boolean(),
  /** New entries get ids that break careless URL building. */
  hostileIds: z.boolean(),
  /** Replies carry fields nobody has heard of. */
  unknownFields: z.boolean(),
})

/** Every setting with its value. */
export type Settings = z.infer<typeof sandboxSettings>

/** Some of the settings: what a change is made of, and what is saved of an older sandbox. */
export const someSettings = sandboxSettings.partial()

const DEFAULTS: Settings = {
  form: 'primary',
  plan: 'free',
  pagination: true,
  listEndpoint: 'both',
  strictServiceNames: false,
  rateHeaders: true,
  retryAfter: true,
  rateHeadersOnSuccess: false,
  deleteFolders: false,
  hostileIds: false,
  unknownFields: false,
}

/** The settings in force. Read them anew for every request. */
export class LiveSettings {
  readonly #saved: SavedSettings
  readonly #given: { form?: Settings['form'] | undefined; plan?: Settings['plan'] | undefined }
  #values: Settings

  /** `given` counts more than what is saved. */
  constructor(
    saved: SavedSettings,
    given: { form?: Settings['form'] | undefined; plan?: Settings['plan'] | undefined },
  ) {
    this.#saved = saved
    this.#given = given
    this.#values = DEFAULTS
    this.startOver()
  }

  /** Takes up what is saved, and what was given at the start once more. */
  startOver(): void {
    this.reload()
    this.update(this.#given)
  }

  /** Takes up what is saved. */
  reload(): void {
    this.#values = { ...DEFAULTS, ...definedOnly(someSettings.parse(this.#saved.get('settings') ?? {})) }
  }

  get(): Settings {
    return this.#values
  }

  /** Changes what is given, keeps the rest. */
  update(change: { [Name in keyof Settings]?: Settings[Name] | undefined }): Settings {
    this.#values = sandboxSettings.parse({ ...this.#values, ...definedOnly(change) })
    this.#saved.set('settings', this.#values)
    return this.#values
  }
}

function definedOnly(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
