import { ManualClock } from '../../../src/core/time.ts'
import {
  createFilesClient,
  type FilesClient,
  type FilesClientOptions,
  type FilesLogLine,
} from '../../../src/files/index.ts'

export const KEY = 'sk_sandbox_0123456789abcdefWXYZ'

/** A client and the means to watch it. */
export interface Bench {
  files: FilesClient
  clock: ManualClock
  lines: FilesLogLine[]
  /** Every pause of the client, in milliseconds. */
  pauses: number[]
  /** Resolves to the next line of a kind, or to one that was logged before. */
  logged: (kind: FilesLogLine['kind']) => Promise<FilesLogLine>
}

/**
 * A client on a clock that stands still; `skipPauses`, the default, ends each pause as it begins.
 * Its random numbers are 0.
 */
export function testClient(
  options: Partial<FilesClientOptions> & { baseUrl: string; skipPauses?: boolean; startAt?: number },
): Bench {
  const { skipPauses = true, startAt = Date.now(), ...rest } = options
  const clock = new ManualClock(startAt)
  const lines: FilesLogLine[] = []
  const pauses: number[] = []
  const waiting = new Map<string, (line: FilesLogLine) => void>()
  const log = (line: FilesLogLine) => {
    lines.push(line)
    waiting.get(line.kind)?.(line)
    if (line.kind !== 'wait') return
    if (line.until > clock.now()) pauses.push(line.until - clock.now())
    if (skipPauses) setImmediate(() => clock.set(Math.max(clock.now(), line.until)))
  }
  const files = createFilesClient({ apiKey: KEY, clock, random: () => 0, log, plan: 1_000_000, ...rest })
  const logged = (kind: FilesLogLine['kind']) => {
    const known = lines.find((line) => line.kind === kind)
    return known !== undefined
      ? Promise.resolve(known)
      : new Promise<FilesLogLine>((resolve) => void waiting.set(kind, resolve))
  }
  return { files, clock, lines, pauses, logged }
}

/** The error that a call rejects with. */
export async function errorOf<T>(call: Promise<T>): Promise<unknown> {
  return call.then(
    (value) => {
      throw new Error(`resolved to ${JSON.stringify(value)}`)
    },
    (error: unknown) => error,
  )
}
