import type { NextMoment, SchedulePlan } from '../core/runs/schedule.ts'
import { parseCronLine } from './cron-line.ts'

/** Lines that stay parsed: many schedules share one. */
const MAX_KNOWN = 1_000
const known = new Map<string, NextMoment>()

/** The moments of a plan. Throws `invalid_workflow` for a bad line or an unknown zone. */
export function nextMomentOf(plan: SchedulePlan): NextMoment {
  if (plan.kind === 'once') return (after) => (after < plan.at ? plan.at : null)
  if (plan.kind === 'backfill') return until(nextMomentOf(plan.line), plan.to)
  const key = `${plan.timezone} ${plan.expression}`
  const found = known.get(key)
  if (found) return found
  const made = parseCronLine(plan.expression, plan.timezone)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, made)
  return made
}

function until(next: NextMoment, to: number): NextMoment {
  return (after) => {
    const moment = next(after)
    return moment === null || moment > to ? null : moment
  }
}
