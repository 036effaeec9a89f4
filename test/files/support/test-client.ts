import { ManualClock } from '../../../src/core/time.ts'
import {
  createFilesClient,
  type FilesClient,
  type FilesClientOptions,
  type FilesLogLine,
} from '../../../src/files/index.ts'

export const KEY = 'sk_sandbox_0123456789abcdefWXYZ'

export interface Bench {
  files: FilesClient
  clock: ManualClock
  lines: FilesLogLine[]
  /** Length of every pause that the client took, in milliseconds. */
  pauses: number[]
  /** Resolves with the next line of a kind, unless one has been logged already. */
  logged: (kind: FilesLogLine['kind']) => Promise<FilesLogLine>
}

/**
 * A client on a clock that stands still, except that a pause is over as soon as it begins
 * (`skipPauses`, the default). Chance is 0 unless it is given.
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

/** What a call rejects with. */
export async function errorOf<T>(call: Promise<T>): Promise<unknown> {
  return call.then(
    (value) => {
      throw new Error(`resolved to ${JSON.stringify(value)}`)
    },
    (error: unknown) => error,
  )
}
