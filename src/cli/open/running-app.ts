import { z } from 'zod'
import { PROCESS_HEADER } from '../../admin/ports/health.ts'
import { UpshotError } from '../../core/errors.ts'
import { deriveProbeKey } from '../../core/incoming/probe-mark.ts'
import type { Config } from '../../project/config/load-config.ts'
import { readKey } from '../../project/data-dir/open-store.ts'
import { type Runtime, readRuntimeFile } from '../../project/data-dir/runtime-file.ts'

/** An app that is running on the project's data directory. */
export interface RunningApp extends Runtime {
  isReady: boolean
  /** `ok` or the fault, by the name of the check. */
  checks: Record<string, string>
  warnings: string[]
}

const readiness = z.object({
  ready: z.boolean(),
  checks: z.record(z.string(), z.string()),
  warnings: z.array(z.string()),
})

/** Generous: the readiness check writes to a disk that may be busy. A dead app refuses at once. */
export const ANSWER_WITHIN_MS = 10_000

/** The running app, or null. It asks the app itself, because the runtime file survives a crash. */
export async function findRunningApp(config: Pick<Config, 'dataDir'>): Promise<RunningApp | null> {
  const app = await askRunningApp(config)
  return typeof app === 'string' ? null : app
}

/** The running app, or why there is none that answers, as a clause. */
export async function askRunningApp({ dataDir }: Pick<Config, 'dataDir'>): Promise<RunningApp | string> {
  const runtime = readRuntimeFile(dataDir)
  if (runtime === null) return 'no process runs on this data directory'
  try {
    const response = await fetch(`${runtime.admin}/readyz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    // After a crash, the app of another project may have its address.
    const pid = response.headers.get(PROCESS_HEADER) ?? String(runtime.pid)
    if (pid !== String(runtime.pid)) return `process ${runtime.pid} has ended without a stop`
    const { ready, ...told } = readiness.parse(await response.json())
    return { ...runtime, isReady: ready, ...told }
  } catch (error) {
    const isFrozen = error instanceof Error && error.name === 'TimeoutError'
    if (isFrozen)
      return `process ${runtime.pid} gives no answer within ${ANSWER_WITHIN_MS / 1_000} s: it is stopped or stuck`
    return `process ${runtime.pid} has ended without a stop, or does not answer`
  }
}

/** The running app; throws `not_running` if there is none. */
export async function requireRunningApp(config: Pick<Config, 'dataDir'>): Promise<RunningApp> {
  const app = await findRunningApp(config)
  if (app !== null) return app
  throw new UpshotError('not_running', `No app is running on the data directory ${config.dataDir}.`)
}

/** The key of the marks on probes, which the running app shares through its data directory. */
export function probeKeyOf(config: Config): Buffer {
  return deriveProbeKey(readKey(config))
}
