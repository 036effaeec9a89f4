import { describeError } from '../../core/errors.ts'
import type { Group } from '../../core/safety/differences.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime } from '../../core/time.ts'
import type { Config } from '../../project/config/load-config.ts'
import { findShadow } from '../../project/workflows/find-shadow.ts'
import type { PreviewShadows, ShadowBacktest, ShadowStretch } from '../../watch/alerts/look-at-shadows.ts'
import { runCommand } from '../preview/child/run-command.ts'

type Store = Pick<ReadStore, 'listWorkflows' | 'listRuns'>

/**
 * One backtest of a shadow. Runs beyond the limit, the oldest of the stretch, are not previewed.
 */
const BOUNDS = { withinMs: 10 * 60_000, mostBytes: 134_217_728, isAside: true }
const MAX_RUNS = 20_000

interface AtWork extends ShadowStretch {
  found: ShadowBacktest[] | null
}

/**
 * Backtests shadows for the rules of alerts: each in a process of `upshot backtest`, one after the
 * other. The signal ends them.
 */
export function openShadows(config: Config, store: Store, signal: AbortSignal): PreviewShadows {
  const byRule = new Map<string, AtWork>()
  return (stretch) => {
    const known = byRule.get(stretch.rule)
    if (known?.since === stretch.since) {
      if (known.found === null) return null
      byRule.delete(stretch.rule)
      return { until: known.until, found: known.found }
    }
    // Another process has gone on meanwhile, or this is the first look.
    const work: AtWork = { ...stretch, found: null }
    byRule.set(stretch.rule, work)
    void previewAll(config, store, stretch, signal).then(
      (found) => {
        work.found = found
      },
      () => byRule.delete(stretch.rule),
    )
    return null
  }
}

async function previewAll(
  config: Config,
  store: Store,
  { workflow, since, until }: ShadowStretch,
  signal: AbortSignal,
): Promise<ShadowBacktest[]> {
  const found: ShadowBacktest[] = []
  for (const { id, file } of await store.listWorkflows()) {
    const isMeant = (workflow === null || id === workflow) && findShadow(config.workflowsDir, file) !== null
    if (!isMeant || (await store.listRuns({ workflow: id, since, until, limit: 1 })).length === 0) continue
    const stretch = ['--since', isoTime(since), '--until', isoTime(until), '--limit', `${MAX_RUNS}`]
    const args = ['backtest', id, '--shadow', ...stretch]
    const previewed = runCommand<Printed>(config, args, { ...BOUNDS, signal }).then(describe, (error: unknown) => ({
      code: null,
      groups: [],
      error: describeError(error).message,
    }))
    found.push({ workflow: id, ...(await previewed) })
    signal.throwIfAborted()
  }
  return found
}

/** The part of a backtest in JSON that a rule tells of. */
interface Printed {
  candidate: string | null
  groups: Group[]
  accepted: string[]
}

function describe({ candidate, groups, accepted }: Printed): Omit<ShadowBacktest, 'workflow'> {
  return { code: candidate, groups: groups.filter(({ key }) => !accepted.includes(key)), error: null }
}
