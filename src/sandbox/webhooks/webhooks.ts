import { z } from 'zod'
import { newId, randomWord } from '../../core/ids.ts'
import { SCHEME_PRESETS, type SchemePreset, type SignatureScheme } from '../../core/incoming/signature.ts'
import { signatureScheme } from '../../core/incoming/signature-scheme.ts'
import { STORAGES } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import type { SandboxClock } from '../state/clock.ts'
import { type Db, statement } from '../state/database.ts'
import type { StoredEvent } from '../state/event-journal.ts'
import { notFound } from '../state/not-found.ts'

const presetNames = Object.keys(SCHEME_PRESETS) as [SchemePreset, ...SchemePreset[]]

const secret = z.string().min(8)
const fields = {
  url: z.url({ protocol: /^https?$/ }),
  /** Event types; `*` matches all, `file.*` by prefix. */
  events: z.array(z.string().min(1)).min(1),
  /** Only events of these storages; null for all. Events of no single storage always match. */
  storages: z.array(z.enum(STORAGES)).nullable(),
  /** How deliveries are signed: the name of a preset, or a scheme. */
  scheme: z.union([z.enum(presetNames), signatureScheme]),
  /** A disabled webhook gets no deliveries; its pending ones fail when they fall due. */
  enabled: z.boolean(),
}

export const webhookInput = z.strictObject({
  ...fields,
  /** Event types; `*` matches all, `file.*` by prefix. Default all. */
  events: fields.events.default(['*']),
  /** Only events of these storages; events of no single storage always match. Default null: all. */
  storages: fields.storages.default(null),
  /** How deliveries are signed: the name of a preset, or a scheme. Default `hex`. */
  scheme: fields.scheme.default('hex'),
  /** Whether it gets deliveries. Default true. */
  enabled: fields.enabled.default(true),
  /** The signing secret, at least 8 characters. Default: a random one. */
  secret: secret.optional(),
  /** Further secrets that sign too, for a rotation. Default none. */
  moreSecrets: z.array(secret).default([]),
})
/** The options of a new webhook. */
export type WebhookInput = z.input<typeof webhookInput>

export const webhookEdit = z
  .strictObject({
    ...fields,
    /** All signing secrets; schemes with one signature use the first. */
    secrets: z.array(secret).min(1),
  })
  .partial()
/** The changes to a webhook; omitted fields stay. */
export type WebhookEdit = z.input<typeof webhookEdit>

/** An address that receives events. */
export interface Webhook {
  /** `whk_…` */
  id: string
  url: string
  /** Event types; `*` matches all, `file.*` by prefix. */
  events: string[]
  /** Null for all storages. */
  storages: string[] | null
  /** Every secret signs; schemes with one signature use the first. */
  secrets: string[]
  scheme: SignatureScheme
  enabled: boolean
  /** ISO 8601. */
  createdAt: string
}

interface WebhookRow {
  id: string
  url: string
  events: string
  storages: string | null
  secrets: string
  scheme: string
  enabled: number
  createdAt: number
}

const COLUMNS = 'id, url, events, storages, secrets, scheme, enabled, created_at AS createdAt'

/** The webhooks of the account. */
export class Webhooks {
  readonly #db: Db
  readonly #clock: SandboxClock

  constructor(db: Db, clock: SandboxClock) {
    this.#db = db
    this.#clock = clock
  }

  /** Adds a webhook. The result contains its secret, also a random one. */
  async add(input: WebhookInput): Promise<Webhook> {
    const { secret, moreSecrets, scheme, ...rest } = webhookInput.parse(input)
    const now = this.#clock.now()
    const webhook: Webhook = {
      id: newId('whk', now),
      ...rest,
      secrets: [secret ?? randomWord(), ...moreSecrets],
      scheme: typeof scheme === 'string' ? SCHEME_PRESETS[scheme] : scheme,
      createdAt: isoTime(now),
    }
    this.#save(webhook)
    return webhook
  }

  /** Oldest first. */
  list(): Webhook[] {
    return statement<[], WebhookRow>(this.#db, `SELECT ${COLUMNS} FROM webhooks ORDER BY rowid`).all().map(fromRow)
  }

  /** Undefined for an unknown id. */
  find(id: string): Webhook | undefined {
    const row = statement<[string], WebhookRow>(this.#db, `SELECT ${COLUMNS} FROM webhooks WHERE id = ?`).get(id)
    return row && fromRow(row)
  }

  /** Changes the given fields; pending deliveries use them too. Throws `not_found`. */
  async edit(id: string, change: WebhookEdit): Promise<Webhook> {
    const before = this.find(id) ?? notFound('webhook', id)
    const { scheme = before.scheme, ...rest } = webhookEdit.parse(change)
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const changed: Webhook = {
      ...before,
      ...given,
      scheme: typeof scheme === 'string' ? SCHEME_PRESETS[scheme] : scheme,
    }
    this.#save(changed)
    return changed
  }

  /** Enables or disables a webhook. Throws `not_found`. */
  enable(id: string, enabled: boolean): Promise<Webhook> {
    return this.edit(id, { enabled })
  }

  /** Moves a webhook to another address. Throws `not_found`. */
  move(id: string, url: string): Promise<Webhook> {
    return this.edit(id, { url })
  }

  /** Removes a webhook; its pending deliveries fail when they fall due. Throws `not_found`. */
  async remove(id: string): Promise<void> {
    const { changes } = statement(this.#db, 'DELETE FROM webhooks WHERE id = ?').run(id)
    if (changes === 0) notFound('webhook', id)
  }

  /** The enabled webhooks that want this event. */
  wanting(event: Pick<StoredEvent, 'type' | 'service'>): Webhook[] {
    return this.list().filter((webhook) => webhook.enabled && this.wants(webhook, event))
  }

  wants(webhook: Webhook, event: Pick<StoredEvent, 'type' | 'service'>): boolean {
    if (webhook.storages && event.service && !webhook.storages.includes(event.service)) return false
    return webhook.events.some((pattern) => matchesType(pattern, event.type))
  }

  #save(webhook: Webhook): void {
    statement(
      this.#db,
      `INSERT INTO webhooks (id, url, events, storages, secrets, scheme, enabled, created_at)
         VALUES (@id, @url, @events, @storages, @secrets, @scheme, @enabled, @createdAt)
         ON CONFLICT (id) DO UPDATE SET url = excluded.url, events = excluded.events, storages = excluded.storages,
           secrets = excluded.secrets, scheme = excluded.scheme, enabled = excluded.enabled`,
    ).run({
      ...webhook,
      events: JSON.stringify(webhook.events),
      storages: webhook.storages && JSON.stringify(webhook.storages),
      secrets: JSON.stringify(webhook.secrets),
      scheme: JSON.stringify(webhook.scheme),
      enabled: webhook.enabled ? 1 : 0,
      createdAt: Date.parse(webhook.createdAt),
    })
  }
}

function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type
}

function fromRow(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events),
    storages: row.storages === null ? null : JSON.parse(row.storages),
    secrets: JSON.parse(row.secrets),
    scheme: signatureScheme.parse(JSON.parse(row.scheme)),
    enabled: row.enabled === 1,
    createdAt: isoTime(row.createdAt),
  }
}
