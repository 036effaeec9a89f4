/** What must be true before deliveries are sent here. */
export interface HealthReport {
  ready: boolean
  /** `ok`, or what is wrong. */
  checks: Record<string, string>
}

/** One check: resolves when all is well, rejects with what is wrong. */
export type HealthCheck = () => Promise<void>

export interface Health {
  check(): Promise<HealthReport>
}

/** Runs every check, side by side. */
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
