import { z } from 'zod'
import { ANSWER_WITHIN_MS, type RunningApp } from '../open/running-app.ts'

const events = z.object({ data: z.array(z.object({ data: z.record(z.string(), z.unknown()) })) })

/**
 * The data of the sandbox's newest event of this type: its files exist, so workflows can follow it.
 * Null without a sandbox, or without such an event.
 */
export async function findRecentData(
  type: string,
  { sandbox }: Pick<RunningApp, 'sandbox'>,
): Promise<Record<string, unknown> | null> {
  if (sandbox === null) return null
  const response = await fetch(`${sandbox.origin}/_sandbox/events?type=${encodeURIComponent(type)}`, {
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  })
  const found = events.safeParse(await response.json())
  return found.success ? (found.data.data.at(-1)?.data ?? null) : null
}
