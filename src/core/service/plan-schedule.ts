import { UpshotError } from '../errors.ts'
import { type CronTrigger, ONCE_WITHIN_MS, type OncePlan, type TickRules } from '../runs/schedule.ts'
import { type Duration, parseDuration } from '../time.ts'
import { DEFAULT_ACCOUNT, isAccountName } from './account.ts'

/** The rules of a schedule, as people and code give them. */
export interface GivenRules {
  timezone?: string | undefined
  catchUp?: TickRules['catchUp'] | undefined
  within?: Duration | undefined
  overlap?: TickRules['overlap'] | undefined
  account?: string | readonly string[] | undefined
  accounts?: 'each' | undefined
}

/** A line has up to 86,400 moments a day, and each that was missed is looked at. */
const MAX_WITHIN_DAYS = 366

/**
 * The plan of a cron line. Throws `invalid_workflow`, and `invalid_duration` for a wrong `within`;
 * the line itself is not looked at.
 */
export function planCron(expression: string, given: GivenRules = {}): CronTrigger {
  const { timezone = 'UTC', ...rest } = given
  if (parseDuration(rest.within ?? 0, 'within') > MAX_WITHIN_DAYS * 86_400_000) {
    const fix = `A cron line looks back for at most ${MAX_WITHIN_DAYS} days.`
    throw new UpshotError('invalid_duration', `within: "${rest.within}" is too long. ${fix}`)
  }
  return { kind: 'cron', expression, timezone, ...readRules(rest, { what: 'cron', within: '24h' }) }
}

/** The plan of one moment. Throws `invalid_workflow`. */
export function planOnce(at: number, given: GivenRules = {}): OncePlan {
  return { kind: 'once', at, ...readRules(given, { what: 'at', within: ONCE_WITHIN_MS }) }
}

function readRules(given: GivenRules, { what, within }: { what: string; within: Duration }) {
  return {
    catchUp: given.catchUp ?? 'latest',
    withinMs: parseDuration(given.within ?? within, 'within'),
    overlap: given.overlap ?? 'queue',
    accounts: readAccounts(given, what),
  }
}

function readAccounts({ account, accounts }: GivenRules, what: string): CronTrigger['accounts'] {
  const refuse = (message: string) => new UpshotError('invalid_workflow', `${what}: ${message}`)
  if (accounts !== undefined) {
    if (account !== undefined) throw refuse('name `account` or `accounts`, not both.')
    if (accounts !== 'each') throw refuse('`accounts` takes only "each". Name single accounts in `account`.')
    return accounts
  }
  const names = account === undefined ? [DEFAULT_ACCOUNT] : [account].flat()
  const wrong = names.find((name) => !isAccountName(name))
  if (wrong !== undefined || names.length === 0) throw refuse(`"${wrong ?? ''}" in \`account\` is not the name of one.`)
  return [...new Set(names)]
}
