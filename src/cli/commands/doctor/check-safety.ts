import { describeScope, presentMode } from '../../../core/safety/stop.ts'
import { listSwitches } from '../../../core/store/safety/list-switches.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { isoTime } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { commandClock } from '../../open/command-clock.ts'
import { type Finding, warn } from './finding.ts'

/** A stop that is this old was perhaps forgotten. */
const OLD_STOP_MS = 86_400_000

/** Checks that deletes are bounded, and that people hear of what waits for them. */
export async function checkSafety(store: ReadStore, config: Config): Promise<Finding[]> {
  return [
    ...(await checkEffects(store, config)),
    ...(await checkApprovals(store, config)),
    ...(await checkStops(store)),
  ]
}

/** Warns where the guard is off, also before there is a database. */
export function checkGuard({ guardPolicy }: Config): Finding[] {
  if (guardPolicy.limits !== null) return []
  return [
    warn('guard', 'it is off: workflows may delete any number of files', {
      fix: 'Remove UPSHOT_GUARD=off, and raise the limits in `guard` of the project file instead.',
    }),
  ]
}

/** The mode of the last start, and the one that the environment here names. */
async function checkEffects(store: ReadStore, { effects = 'live' }: Config): Promise<Finding[]> {
  const switches = await listSwitches(store)
  const mode = presentMode(switches)
  const since = switches.at(-1)?.at
  const found = since === undefined ? '' : ` since ${isoTime(since)}`
  const planned =
    mode === 'plan'
      ? [
          warn('effects', `NOTHING ACTS${found}: runs are only planned`, {
            fix: 'To act, start with UPSHOT_EFFECTS=live.',
          }),
        ]
      : []
  if (mode === effects) return planned
  const other = `UPSHOT_EFFECTS is ${effects} here, but the app last started with ${mode}`
  return [...planned, warn('effects', other, { fix: 'The next start switches. Check which of them you mean.' })]
}

/** One finding at most: who may decide, and who is told. */
async function checkApprovals(store: ReadStore, { alerts }: Config): Promise<Finding[]> {
  const open = await store.listApprovals({ status: 'open', limit: 1, now: commandClock.now() })
  const [first] = open
  if (first === undefined) return []
  const hasApprover = (await store.listApprovers()).some(({ removedAt }) => removedAt === null)
  const isTold = alerts?.rules.some(({ when }) => when === 'approval.asked') ?? false
  const faults = [
    ...(hasApprover ? [] : ['no approver is registered']),
    ...(isTold ? [] : ['no alert rule tells of them']),
  ]
  if (faults.length === 0) return []
  const fixes = [
    ...(hasApprover ? [] : ['Register people with "upshot approvers add <name> --key <file>".']),
    ...(isTold ? [] : ['Add a rule with `when: "approval.asked"` to `alerts` of the project file.']),
  ]
  const found = `approvals wait for people, but ${faults.join(' and ')}; the newest is ${first.id}`
  return [warn('approvals', found, { fix: fixes.join(' ') })]
}

async function checkStops(store: ReadStore): Promise<Finding[]> {
  const now = commandClock.now()
  const old = (await store.listStops()).filter(({ since }) => since < now - OLD_STOP_MS)
  return old.map((stop) => {
    const days = Math.floor((now - stop.since) / OLD_STOP_MS)
    const age = days === 1 ? 'for over a day' : `for over ${days} days`
    const option = stop.kind === 'all' ? '' : ` --${stop.kind} ${stop.name}`
    return warn('stop', `${describeScope(stop)} have been stopped ${age} by ${stop.actor}: ${stop.reason}`, {
      fix: `If the reason is over: upshot effects resume${option}`,
    })
  })
}
