import { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import type { Config } from '../../project/config/load-config.ts'
import { type Runtime, readRuntimeFile } from '../../project/data-dir/runtime-file.ts'

/** An app that runs on the project's data directory. */
export interface RunningApp extends Runtime {
  isReady: boolean
  /** `ok` or what is wrong, by the name of the check. */
  checks: Record<string, string>
}

const readiness = z.object({ ready: z.boolean(), checks: z.record(z.string(), z.string()) })

/**
 * An app that is gone refuses the connection at once, one that is well answers within milliseconds.
 * This long only matters on a machine so busy that its disk keeps the readiness check, which
 * writes, waiting.
 */
const ANSWER_WITHIN_MS = 10_000

/** Null when none runs. The runtime file outlives a crash, so the app itself is asked. */
export async function findRunningApp({ dataDir }: Pick<Config, 'dataDir'>): Promise<RunningApp | null> {
  try {
    const runtime = readRuntimeFile(dataDir)
    if (runtime === null) return null
    const response = await fetch(`${runtime.admin}/readyz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    const { ready, checks } = readiness.parse(await response.json())
    return { ...runtime, isReady: ready, checks }
  } catch {
    return null
  }
}

/** Whether an app has started here and not stopped in order; it may run, or be gone. */
export function hasRuntimeFile(dataDir: string): boolean {
  try {
    return readRuntimeFile(dataDir) !== null
  } catch {
    return true
  }
}

/** The same for a command that cannot do without; throws `not_running`. */
export async function requireRunningApp(config: Pick<Config, 'dataDir'>): Promise<RunningApp> {
  const app = await findRunningApp(config)
  if (app !== null) return app
  throw new UpshotError('not_running', `No app runs on the data directory ${config.dataDir}.`)
}

/**
 * Where the receiver is, or will be once the app starts; null where it takes a port of its own
 * choice.
 */
export async function findReceiver(config: Pick<Config, 'dataDir' | 'host' | 'ports'>): Promise<string | null> {
  const app = await findRunningApp(config)
  if (app !== null) return app.receiver
  const { host, ports } = config
  return ports.receiver === 0 ? null : `http://${host.includes(':') ? `[${host}]` : host}:${ports.receiver}`
}

/**
 * What an endpoint's address begins with: the public URL where one is set, else the receiver on
 * this machine.
 */
export async function findAddress(
  config: Pick<Config, 'dataDir' | 'host' | 'ports' | 'publicUrl'>,
): Promise<string | null> {
  return config.publicUrl ?? findReceiver(config)
}
