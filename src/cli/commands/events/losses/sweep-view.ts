import type { SweepView } from '../../../../admin/queries/read-sweep-views.ts'
import { formatMoment } from '../../../terminal/format-value.ts'

/** Such as `storage_a: complete 2026-01-10 02:00, 3 lost in 7 days (1 made up)`. */
export function describeSweepView(view: SweepView): string {
  const { account, storage, complete, fault, lost, made, held, underWay } = view
  const count = (number: number) => number.toLocaleString('en')
  const place = account === 'default' ? storage : `${account}/${storage}`
  const swept = complete === null ? 'no complete sweep yet' : `complete ${formatMoment(complete.endedAt)}`
  const cut = fault === null ? [] : [`the last one is not (${fault})`]
  const repaired = made === 0 ? '' : ` (${count(made)} made up)`
  const losses = lost === 0 ? 'none lost in 7 days' : `${count(lost)} lost in 7 days${repaired}`
  const waiting = held === 0 ? [] : [`${count(held)} wait for approval`]
  return `${place}: ${[swept, ...cut, losses, ...waiting, ...describePresent(underWay)].join(', ')}`
}

/** Such as `now listing, 1,200 of 4,000`. */
function describePresent(underWay: SweepView['underWay']): string[] {
  if (underWay === null) return []
  const { phase, seen, total } = underWay
  const far = `${seen.toLocaleString('en')}${total === null ? '' : ` of ${total.toLocaleString('en')}`}`
  return [phase === 'listing' ? `now listing, ${far}` : 'now judging']
}
