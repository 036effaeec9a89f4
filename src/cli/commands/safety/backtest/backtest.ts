import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { addBacktestOptions, type BacktestOptions } from './backtest-options.ts'

/** The runs of a backtest, by the option that chooses them; null: those that are recorded. */
type Source = 'from' | 'unfinished' | 'shadow' | 'save' | null

const RUNS = ['since', 'until', 'type', 'account', 'sample', 'limit']
const CODE = ['workflows', 'code', 'against']
const ANSWERS = ['outputs', 'reads', 'fixtures', 'rerun', 'trustReads']
const VERDICT = ['failOn', 'require', 'accept', 'markdown']
const TAKES: Record<`${Source}`, readonly string[]> = {
  null: [...RUNS, ...CODE, ...ANSWERS, ...VERDICT],
  from: ['from', ...CODE, ...ANSWERS, ...VERDICT],
  unfinished: ['unfinished', 'workflows', 'markdown'],
  shadow: ['shadow', 'against', ...RUNS, ...ANSWERS, ...VERDICT],
  save: ['save', 'keep', 'workflows', ...RUNS],
}

export function define(command: Command, cli: Cli): void {
  addBacktestOptions(command).action(async (workflow, options, self) => {
    const source = chooseSource(options, (name) => self.getOptionValueSource(name as never) === 'cli')
    if (source === 'unfinished') {
      const { backtestUnfinished } = await import('./backtest-unfinished.ts')
      return backtestUnfinished(cli, workflow, options)
    }
    if (workflow === undefined && source !== 'from') throw describeMissing()
    if (source === 'save') {
      const { saveRuns } = await import('./save-runs.ts')
      return saveRuns(cli, workflow ?? '', options)
    }
    const { replayRuns } = await import('./replay-runs.ts')
    return replayRuns(cli, workflow, options)
  })
}

/** Throws where two sources are named, or an option that the source does not take. */
function chooseSource(options: BacktestOptions, isGiven: (name: string) => boolean): Source {
  const named = (['from', 'unfinished', 'shadow', 'save'] as const).filter((name) => options[name] !== undefined)
  const [source = null] = named
  const refused = [...RUNS, ...CODE, ...ANSWERS, ...VERDICT, ...named, 'keep'].filter((name) => {
    return isGiven(name) && !TAKES[`${source}`].includes(name)
  })
  const isAsking = source === 'from' && options.reads === 'live'
  if (refused.length === 0 && !isAsking) return source
  const all = [...refused.map(nameOption), ...(isAsking ? ['--reads live'] : [])]
  const where = source === null ? 'without --save' : `with --${source}`
  throw new UpshotError('invalid_request', `${all.join(', ')} cannot be given ${where}.`, {
    fix: 'Leave it out: --help lists the options by what they choose.',
  })
}

function nameOption(name: string): string {
  return `--${name.replace(/[A-Z]/g, (sign) => `-${sign.toLowerCase()}`)}`
}

function describeMissing(): UpshotError {
  return new UpshotError('invalid_request', 'Name the workflow whose runs are previewed.', {
    fix: 'For example: "upshot backtest tidy --since 7d". Its id: upshot workflows list',
  })
}
