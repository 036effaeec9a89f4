import { resolve } from 'node:path'
import type { IsolatedProcess, openIsolated } from '../../../app/preview/isolated-process.ts'
import type { LastingProcess } from '../../../app/preview/lasting-process.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
import { formatFailure } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'

type Opening = Parameters<typeof openIsolated>

interface Wanted {
  store: Opening[0]
  config: Config
  /** The folder of the code; undefined: that of the project. */
  workflows?: string | undefined
  /** The one module of that folder, as it is named in messages. Absent: there are more. */
  module?: string
  readFiles?: Opening[2]['readFiles'] | undefined
  /** Undefined: as the project says. */
  trustReads?: boolean | undefined
}

/** For code of which nothing is asked that a corpus does not have. */
export const NO_STORE: Pick<
  ReadStore,
  'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps' | 'listAccounts'
> = {
  listDeletes: async () => [],
  listRunEvents: async () => [],
  listRuns: async () => [],
  listSteps: async () => [],
  listAccounts: async () => [],
  readOutput: async () => {
    throw new Error('A corpus has each result in its row.')
  },
}

/** Opens an isolated process with the author's code, and names the modules that it cannot load. */
export async function openCode(out: Cli['out'], wanted: Wanted): Promise<IsolatedProcess> {
  return noteBroken(out, wanted, await (await findOpening(out, wanted))())
}

/** The same for many recorded runs: one that ends or blocks its process fails by itself. */
export async function openLasting(out: Cli['out'], wanted: Wanted): Promise<LastingProcess> {
  const { LastingProcess } = await import('../../../app/preview/lasting-process.ts')
  return noteBroken(out, wanted, await LastingProcess.open(await findOpening(out, wanted)))
}

async function findOpening(
  out: Cli['out'],
  { store, config, workflows, readFiles, trustReads }: Wanted,
): Promise<() => Promise<IsolatedProcess>> {
  // Loaded here, so that `--help` does not wait for it.
  const { openIsolated } = await import('../../../app/preview/isolated-process.ts')
  const options = {
    signal: onInterrupt(),
    onPrint: (text: string) => out.detail(text.trimEnd()),
    ...(readFiles && { readFiles }),
    ...(trustReads === undefined ? {} : { trustsReads: trustReads }),
    ...(workflows === undefined ? {} : { workflowsDir: resolve(workflows) }),
  }
  return () => openIsolated(store, config, options)
}

function noteBroken<T extends Pick<IsolatedProcess, 'code'>>(out: Cli['out'], { module }: Wanted, opened: T): T {
  for (const { file, error } of opened.code.broken) {
    out.note(`${module ?? file} cannot be loaded: ${formatFailure(error)}`)
  }
  return opened
}

/** As `openLasting`, and throws `not_found` where the code has no such workflow. */
export async function openCodeOf(out: Cli['out'], workflow: string, wanted: Wanted): Promise<LastingProcess> {
  const isolated = await openLasting(out, wanted)
  const { broken, workflows: found } = isolated.code
  if (found.some(({ id }) => id === workflow)) return isolated
  await isolated[Symbol.asyncDispose]()
  const { module } = wanted
  const where =
    module === undefined ? `No module of ${isolated.settings.workflowsDir} defines` : `${module} does not define`
  const faults = broken.map(({ file, error }) => ` ${module ?? file} cannot be loaded: ${formatFailure(error)}.`)
  throw new UpshotError('not_found', `${where} the workflow "${workflow}".${faults.join('')}`, {
    fix: 'Find its id with "upshot workflows list", or correct the module that cannot be loaded.',
  })
}

export function requireLoaded(
  { code }: Pick<IsolatedProcess, 'code'>,
  workflow: string,
): IsolatedProcess['code']['workflows'][number] {
  const found = code.workflows.find(({ id }) => id === workflow)
  if (found === undefined) throw new Error(`The isolated process has loaded no "${workflow}".`)
  return found
}

/**
 * The clients of the service, for reads only, with the limit of their keys that the app shares.
 * `onRead` hears of each, such as `get`.
 */
export async function openLiveReads(config: Config, onRead: (operation: string) => void = () => {}) {
  const { openStore } = await import('../../../project/data-dir/open-store.ts')
  const { AccountClients } = await import('../../../app/service/account-clients.ts')
  const { findAccess } = await import('../../../app/service/access-to.ts')
  const { openReads } = await import('../../../app/preview/planned-files.ts')
  const store = await openStore(config)
  const clients = new AccountClients({
    store,
    clock: commandClock,
    random: Math.random,
    publish: () => {},
    burst: config.files.burst,
    priority: 'background',
    defaultAccess: () => findAccess(config),
  })
  const read = openReads(clients, { clock: commandClock, signal: onInterrupt() }, onRead)
  let throttled = false
  const readFiles: typeof read = async (account, operation, given) => {
    try {
      return await read(account, operation, given)
    } catch (error) {
      throttled ||= error instanceof Error && /RateLimit/.test(error.name)
      throw error
    }
  }
  return {
    readFiles,
    /** Whether the limit of a key has refused a read. */
    isThrottled: () => throttled,
    [Symbol.asyncDispose]: () => clients.stop().finally(() => store.close()),
  }
}
