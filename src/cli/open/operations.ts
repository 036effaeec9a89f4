import type { AnyInput, CallOptions } from '../../admin/client/index.ts'
import type { AnswerOf, InputOf, RouteName } from '../../admin/contract/routes.ts'
import { UpshotError } from '../../core/errors.ts'
import type { OperatorWrites } from '../../core/store/operator-writes.ts'
import type { ReadStore, Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'

/** Writes that only carry on an audited action, or keep the database in order. */
type Upkeep = 'holdRuns' | 'releaseHeldRuns' | 'prune' | 'pruneWeek' | 'sealEffects'

/**
 * The store as a person has it: every other write leaves an audit row. One without a row does not
 * compile, so no command forgets it.
 */
export type PersonStore = ReadStore & OperatorWrites & Pick<Store, Upkeep>

/** The operations of the table: in this process beside the database, or at a server. */
export interface Operations {
  /** The database beside this process; null at a server. */
  local: { store: PersonStore; config: Config } | null
  perform(name: RouteName, input?: AnyInput, options?: CallOptions): Promise<unknown>
  stream(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncIterable<Uint8Array | string>
  events(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncIterable<unknown>
}

/** The operations with the reason of `--reason`, which the audit log keeps. */
export function withReason(operations: Operations, reason: string | null): Operations {
  return {
    ...operations,
    perform(name, { query, body, ...input } = {}, options) {
      const why = reason === null ? {} : { reason }
      if (name.startsWith('GET ')) return operations.perform(name, { ...input, ...(query ? { query } : {}) }, options)
      if (name.startsWith('DELETE '))
        return operations.perform(name, { ...input, query: { ...query, ...why } }, options)
      return operations.perform(name, { ...input, body: { ...(body as object), ...why } }, options)
    },
  }
}

/** The database beside this process, for a command that reads it itself. */
export function requireLocal({ local }: Operations): NonNullable<Operations['local']> {
  if (local) return local
  throw new UpshotError('invalid_request', 'This command works on the machine of the app, and not at a server.', {
    fix: 'Run it there, without --server and UPSHOT_SERVER.',
  })
}

/** Performs one operation. Throws `UpshotError`, whose code decides how the command exits. */
export async function call<Name extends RouteName>(
  operations: Pick<Operations, 'perform'>,
  name: Name,
  input?: InputOf<Name>,
  options?: CallOptions,
): Promise<AnswerOf<Name>> {
  return (await operations.perform(name, input as AnyInput, options)) as AnswerOf<Name>
}
