/** Whether this process is ready for deliveries. */
export interface HealthReport {
  ready: boolean
  /** For each check `ok`, or the error's message. */
  checks: Record<string, string>
  /** Faults for a person to mend, though deliveries are taken. */
  warnings: string[]
}

/** Header of `/readyz` with the id of its process, which tells apps apart that had one address. */
export const PROCESS_HEADER = 'X-Upshot-Process'

const CHECK_WITHIN_MS = 6_000

/** Resolves when all is well; rejects with an error that says what is wrong. */
export type HealthCheck = () => Promise<void>

export interface Health {
  check(): Promise<HealthReport>
}

/**
 * Runs all checks in parallel. One that takes longer than `withinMs` has failed: who asks wants an
 * answer, whatever is stuck.
 */
export function createHealth(
  checks: Record<string, HealthCheck>,
  { withinMs = CHECK_WITHIN_MS, warnings = () => [] }: { withinMs?: number; warnings?: () => string[] } = {},
): Health {
  return {
    async check() {
      const results = await Promise.all(
        Object.entries(checks).map(async ([name, run]) => [name, await runCheck(run, withinMs)] as const),
      )
      const ready = results.every(([, result]) => result === 'ok')
      return { ready, checks: Object.fromEntries(results), warnings: warnings() }
    },
  }
}

async function runCheck(run: HealthCheck, withinMs: number): Promise<string> {
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve(`no answer within ${withinMs / 1_000} s`), withinMs)
  const checked = run().then(
    () => 'ok',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  return Promise.race([checked, late.promise]).finally(() => clearTimeout(timer))
}
