import { z } from 'zod'
import { toJson } from '../../core/json.ts'
import { type Db, statement } from './database.ts'

/** The form of replies; `mixed` draws one for each request from the seed. */
export const FORMS = ['primary', 'alternative', 'mixed'] as const

/** The service's plans, and `unlimited`, which only the sandbox has. */
export const PLANS = ['free', 'pro', 'enterprise', 'unlimited'] as const

/**
 * Settings that can change while the sandbox runs, and are saved. Each decides one open point of
 * the specification.
 */
const sandboxSettings = z.strictObject({
  /** The form of replies. Default `primary`. */
  form: z.enum(FORMS),
  /** The plan, which sets the rate limit. Default `free`. */
  plan: z.enum(PLANS),
  /** Whether lists carry `pagination`. Default true. */
  pagination: z.boolean(),
  /** The list endpoint that answers; the other one gets 404. Default `both`. */
  listEndpoint: z.enum(['both', 'primary', 'alternative']),
  /**
   * Whether `service` must match the form: an underscore only in the alternative one. Default
   * false.
   */
  strictServiceNames: z.boolean(),
  /** Whether a 429 carries the `X-RateLimit-*` headers. Default true. */
  rateHeaders: z.boolean(),
  /** Whether a 429 carries `Retry-After`. Default true. */
  retryAfter: z.boolean(),
  /** Whether successful replies carry the `X-RateLimit-*` headers. Default false. */
  rateHeadersOnSuccess: z.boolean(),
  /** Whether a folder can be deleted, with everything in it. Default false. */
  deleteFolders: z.boolean(),
  /** Whether new entries get ids that break careless URL building. Default false. */
  hostileIds: z.boolean(),
  /** Whether replies carry unknown fields. Default false. */
  unknownFields: z.boolean(),
})

/** Every setting with its value. */
export type Settings = z.infer<typeof sandboxSettings>

/** Some of the settings: a change, or what an older sandbox saved. */
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

/** The settings in force. Read them for every request. */
export class LiveSettings {
  readonly #saved: SavedSettings
  readonly #given: { form?: Settings['form'] | undefined; plan?: Settings['plan'] | undefined }
  #values: Settings

  /** `given`, the options of the start, wins over saved values. */
  constructor(
    saved: SavedSettings,
    given: { form?: Settings['form'] | undefined; plan?: Settings['plan'] | undefined },
  ) {
    this.#saved = saved
    this.#given = given
    this.#values = DEFAULTS
    this.startOver()
  }

  /** Loads the saved settings and applies the options of the start again. */
  startOver(): void {
    this.reload()
    this.update(this.#given)
  }

  /** Loads the saved settings; missing ones get their defaults. */
  reload(): void {
    this.#values = { ...DEFAULTS, ...definedOnly(someSettings.parse(this.#saved.get('settings') ?? {})) }
  }

  /** The values in force. */
  get(): Settings {
    return this.#values
  }

  /** Changes and saves the given settings. Returns all of them. */
  update(change: { [Name in keyof Settings]?: Settings[Name] | undefined }): Settings {
    this.#values = sandboxSettings.parse({ ...this.#values, ...definedOnly(change) })
    this.#saved.set('settings', this.#values)
    return this.#values
  }
}

function definedOnly(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Small named values that survive a restart: clock, settings, and the secret of download URLs. */
export class SavedSettings {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  get(name: string): unknown {
    const text = statement<[string], string>(this.#db, 'SELECT value FROM settings WHERE name = ?').pluck().get(name)
    return text === undefined ? undefined : JSON.parse(text)
  }

  set(name: string, value: unknown): void {
    statement(this.#db, 'INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)').run(
      name,
      toJson(value, `The setting "${name}"`),
    )
  }

  /** The saved value, or a new one from `make`, which is saved. */
  getOrMake(name: string, make: () => string): string {
    const saved = this.get(name)
    if (typeof saved === 'string') return saved
    const made = make()
    this.set(name, made)
    return made
  }
}
