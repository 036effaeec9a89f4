import type { AlertChannel, AlertRule } from '../../core/alerts/alert-rule.ts'
import type { Endpoint } from '../../core/incoming/endpoint.ts'
import type { EventRecord, ServiceEvent } from '../../core/incoming/event.ts'
import type { EventMatches } from '../../core/incoming/event-match.ts'
import type { SchedulePlan } from '../../core/runs/schedule.ts'
import type { Guard } from '../../core/safety/guard.ts'
import type { Anchor } from '../../core/safety/ledger/anchor.ts'
import type { Account } from '../../core/service/account.ts'
import type { Downloadable, FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../../core/service/file.ts'
import type { ListQuery, Page, Snapshot, SnapshotOptions } from '../../core/service/files-api.ts'
import type { Prunable, PruneKind, Retention } from '../../core/store/retention.ts'
import type { WorkDone } from '../contract/route.ts'
import type { AnswerOf } from '../contract/routes.ts'

/** The source that sets an endpoint or account again at each start; null: none. */
type Keeper = 'environment' | 'sandbox' | null

export interface AlertSetup {
  rules: readonly AlertRule[]
  /** Kinds of the channels by name; their addresses are secrets. */
  kinds: Readonly<Record<string, AlertChannel['kind']>>
}

type KeptAnchor = Omit<Anchor, 'at'> & { at: string }

/** The result of one check of the installation. */
export type DoctorFinding = AnswerOf<'POST /doctor'>['findings'][number]

/** The rest of the runs that wait for the list of an approval. */
export type Foreseen = AnswerOf<'POST /approvals/:id/look-ahead'>

export type Trials = Omit<AnswerOf<'POST /endpoints/:name/test'>, 'isPassed'>

/** The code around a frame of an error. */
export type SourcePlace = Omit<AnswerOf<'GET /runs/:id/source'>['items'][number], 'isChanged'> & {
  /** Epoch milliseconds. */
  changedAt: number
}

/** Everything outside the store that the API needs; the app has it. */
export interface Surroundings {
  /** Address of the receiver; null while no process serves one. */
  receiverUrl(): Promise<string | null>
  /** Signs an event and posts it to the receiver. Throws what the receiver refuses. */
  sendEvent(event: ServiceEvent, endpoint: Endpoint, signal: AbortSignal): Promise<string>
  /** Asks the workflows of the project about an event, and starts nothing. */
  matchEvent(event: EventRecord): Promise<EventMatches>
  /** Sends a signed, a forged and a repeated delivery, to the public URL or the local one. */
  tryEndpoint(endpoint: Endpoint, isPublic: boolean, signal: AbortSignal): Promise<Trials>
  keeperOf(endpoint: Endpoint): Keeper
  /** Whether the environment names the signature header of this endpoint. */
  isHeaderKept(endpoint: Endpoint): boolean
  /** Tells the sandbox of a changed endpoint; nothing for another one. */
  endpointChanged(endpoint: Endpoint): Promise<void>
  /** The account that the environment or the sandbox names, without its keys. */
  defaultAccount(): Pick<Account, 'plan' | 'storages'> & { baseUrl: string | null; keeper: Exclude<Keeper, null> }
  files: FilesPort
  /** Address of the account pages of the sandbox; null while none is known. */
  sandboxUrl(): string | null
  /** Seals the effect ledger, and appends its end to the anchor file. Null without rows. */
  takeAnchor(isDryRun: boolean): Promise<Anchor | null>
  /** The limits of the project; null: the guard is off. */
  guard(): Guard | null
  alerts(): AlertSetup
  /** Sends a test message to each channel of a rule; `error` is null where it was taken. */
  testAlert(rule: AlertRule, signal: AbortSignal): Promise<{ channel: string; error: string | null }[]>
  /** Previews how the held runs of an approval go on. Its reads are real, and it has no effect. */
  foresee(approval: string, signal: AbortSignal): Promise<Foreseen>
  /** Checks machine, database, endpoints and service, as `upshot doctor` does. */
  examine(signal: AbortSignal): Promise<DoctorFinding[]>
  /** The code around frames of an error; of modules below the folder of the workflows alone. */
  readSource(frames: readonly string[]): Promise<SourcePlace[]>
  /** The settings of the process, without secrets. */
  settings(): { setting: string; value: string }[]
  /** Follows the seals of the ledger; without anchors, it looks for those of the anchor file. */
  verifyLedger(anchors: readonly KeptAnchor[] | null, work: Work): Promise<AnswerOf<'POST /effects/verify'>>
  verifyDatabase(work: Work): Promise<AnswerOf<'POST /database/verify'>>
  /** Copies the database beside it, for {@link openBackup}. Throws where it is no file. */
  backUp(work: Work): Promise<AnswerOf<'POST /database/backup'>>
  /** A backup, which is removed once it was read to its end. Throws `not_found`. */
  openBackup(name: string): Promise<Bytes>
  retention(): Retention
  /** The forecast of `prune`; null: the kind is kept for ever. */
  foreseePrune(): Promise<Record<PruneKind, Prunable | null>>
  /** Removes what is older; counts by kind. `onPruned` gets the sum so far. */
  prune(onPruned: (rows: number) => void): Promise<Record<PruneKind, number>>
  /** Sizes of database, log and free disk, in bytes. */
  readDisk(): Promise<{ databaseBytes: number; logBytes: number; diskFreeBytes: number }>
  /** Keys of accounts that the service told to wait, each by its last four characters. */
  blockedKeys(now: number): Promise<{ account: string; key: string; until: number }[]>
  /** The moments of a plan after one, oldest first. Throws `invalid_workflow` for a bad line. */
  nextTicks(plan: SchedulePlan, after: number, count: number): number[]
}

export interface Bytes {
  type: string
  /** Name of the file that a browser saves. */
  name: string
  /** Null where it is not known before the end. */
  size: number | null
  chunks: AsyncIterable<Uint8Array | string>
}

export interface Work {
  signal: AbortSignal
  tell: (work: WorkDone) => void
}

interface Asked {
  signal: AbortSignal
}

/** The reads of the Files API that people ask for. */
export interface AccountFiles {
  list(query: ListQuery & { pageToken?: string }, options: Asked): Promise<Page & { nextToken: string | null }>
  get(file: FileRef, options: Asked): Promise<FileDetails>
  find(place: FilePlace, options: Asked): Promise<FileEntry | null>
  snapshot(
    folder: Pick<ListQuery, 'service' | 'path' | 'recursive'>,
    options: SnapshotOptions & Asked,
  ): Promise<Snapshot>
  hash(file: Downloadable, options: Asked): Promise<FileHash | null>
  downloadUrl(file: FileRef, options: Asked): Promise<{ url: { reveal(): string }; expiresAt: number | null }>
}

/** A file in the state in which a person saw it. */
export type SeenFile = Pick<FileEntry, 'service' | 'id' | 'path' | 'size' | 'modifiedAt'>

interface RemovalByHand {
  account: string
  files: readonly SeenFile[]
  actor: string
  reason: string | null
}

export type Removal = Pick<AnswerOf<'POST /files/delete'>['files'][number], 'outcome' | 'error'> & { file: SeenFile }

/**
 * The Files API for people, with the key of an account and under its limit. It throws only
 * `UpshotError`.
 */
export interface FilesPort {
  ask<Answer>(account: string, question: (files: AccountFiles) => Promise<Answer>): Promise<Answer>
  /** The bytes of a file from an offset on, also over broken connections and expired addresses. */
  stream(account: string, file: Downloadable, options: Asked & { from: number }): AsyncIterable<Uint8Array>
  /** Deletes each file that is unchanged, with its rows in the ledger; obeys stops. */
  remove(removal: RemovalByHand, work: Work): Promise<Removal[]>
}
