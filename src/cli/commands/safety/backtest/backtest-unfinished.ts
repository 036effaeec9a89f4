import type { Backtest } from '../../../../app/backtest/backtest.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { openLasting } from '../open-code.ts'
import type { BacktestOptions } from './backtest-options.ts'
import { formatBacktest } from './backtest-view.ts'
import { writeReport } from './report-differences.ts'

const ADVICE =
  'Runs that do not go on would wait for a person. Keep their path with step.patched, or begin them anew after the ' +
  'deployment: upshot runs resume <id> --restart'
const KEPT_ADVICE =
  'An open wait keeps the event that it began with. To wait for the new one, give the step another name.'

const SCHEDULE_ADVICE =
  'Their runs would fail. Give them another input once the code is deployed: upshot schedules edit <name>'

export function backtestUnfinished(
  { out, project }: Cli,
  workflow: string | undefined,
  { workflows, markdown }: BacktestOptions,
): Promise<void> {
  return project.withReads(async (store, config) => {
    const { checkUnfinished, listMisfits } = await import('../../../../app/backtest/check-unfinished.ts')
    const signal = onInterrupt()
    await using isolated = await openLasting(out, { store, config, workflows })
    using progress = showProgress(out, { title: 'Runs previewed', total: null, unit: 'count' })
    const onPreviewed = (count: number) => progress.set(count)
    const checked = await checkUnfinished(store, isolated, { workflow, now: commandClock.now(), signal, onPreviewed })
    progress.end()
    const schedules = await listMisfits(store, isolated.code, workflow)
    const found: Backtest = { ...checked, unfinished: 0, guard: [] }
    const candidate = isolated.code.workflows.find(({ id }) => id === workflow)?.codeHash ?? null
    const about = { workflow: workflow ?? null, candidate, against: 'unfinished', accepted: new Set<string>() }
    const { broken } = isolated.code
    writeReport(found, about, markdown)
    out.result({ workflow: about.workflow, candidate, against: about.against, ...found, schedules, broken }, () => [
      ...(found.runs === 0 ? ['No unfinished run has begun: any code fits.'] : formatBacktest(found, about, out)),
      ...schedules.map(({ schedule, why }) => `The schedule "${schedule}" does not fit: ${why}`),
    ])
    const ends = found.groups.map(({ key }) => key.includes('→ keeps its wait'))
    if (ends.includes(false)) out.note(ADVICE)
    if (ends.includes(true)) out.note(KEPT_ADVICE)
    if (schedules.length > 0) out.note(SCHEDULE_ADVICE)
    if (ends.length > 0 || broken.length > 0 || schedules.length > 0) out.leaveWith('difference')
  })
}
