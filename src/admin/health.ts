/** Whether this process is ready for deliveries. */
export interface HealthReport {
  ready: boolean
  /** For each check `ok`, or the error's message. */
  checks: Record<string, string>
}

/** Resolves when all is well; rejects with an error that says what is wrong. */
export type HealthCheck = () => Promise<void>

export interface Health {
  check(): Promise<HealthReport>
}

/** Runs all checks in parallel. */
export function createHealth(checks: Record<string, HealthCheck>): Health {
  return {
    async check() {
      const results = await Promise.all(
        Object.entries(checks).map(async ([name, run]) => [name, await runCheck(run)] as const),
      )
      return { ready: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) }
    },
  }
}

async function runCheck(run: HealthCheck): Promise<string> {
  try {
    await run()
    return 'ok'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
