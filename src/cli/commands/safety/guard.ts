import { EFFECT_ROUTES } from '../../../admin/contract/resources/safety/effects.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { describeScope } from '../../../core/safety/stop.ts'
import { actCommand } from '../../operate/act-command.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatBytes, formatMoment, formatText } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

export const show = actCommand('GET /guard', {
  done: ({ use, stops }, _, { out }) => [
    ...formatTable(use, COLUMNS, out),
    ...stops.map(({ since, actor, reason, ...scope }) => {
      const from = formatMoment(since)
      return `${describeScope(scope)} are stopped since ${from} by ${actor}: ${formatText(reason)}`
    }),
  ],
  note({ isOn, use }) {
    const off = isOn ? [] : ['The guard is off (UPSHOT_GUARD=off).']
    const none = use.length === 0 ? ['Nothing was deleted within a day.'] : []
    return [...off, ...none].join('\n')
  },
})

const COLUMNS: Column<AnswerOf<'GET /guard'>['use'][number]>[] = [
  { title: 'SCOPE', value: ({ scope }) => scope.replaceAll('/', ' '), most: 60 },
  { title: 'WHAT', value: ({ class: kind }) => (kind === 'approved' ? 'approved' : `${kind}s`) },
  { title: 'WINDOW', value: ({ window }) => `1 ${window}` },
  { title: 'USED', value: ({ count }) => count, align: 'right' },
  { title: 'LIMIT', value: ({ limit }) => limit, align: 'right' },
  { title: 'BYTES', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
]

export const suggest = listCommand(EFFECT_ROUTES, 'GET /guard/suggestions', {
  columns: [
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'DELETED', value: ({ deletes }) => deletes, align: 'right' },
    { title: 'PER RUN', value: ({ perRun }) => perRun, align: 'right' },
    { title: 'PER HOUR', value: ({ perHour }) => perHour, align: 'right' },
    { title: 'PER DAY', value: ({ perDay }) => perDay, align: 'right' },
  ],
  empty: 'No workflow deleted anything since then.',
  after: ({ items }) => (items.length === 0 ? [] : [WRITE_THEM]),
})

const WRITE_THEM = 'Write them into the `guard` of the workflow: guard: { deletes: { perRun, perHour, perDay } }'
