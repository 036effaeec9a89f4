import { AUDIT_ROUTES } from '../../../admin/contract/resources/access/audit.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatMoment } from '../../terminal/format-value.ts'

export const list = listCommand(AUDIT_ROUTES, 'GET /audit', {
  columns: [
    { title: 'AT', value: ({ at }) => formatMoment(at) },
    { title: 'WHO', value: ({ actor }) => actor, most: 40 },
    { title: 'FROM', value: ({ from }) => from, most: 40 },
    { title: 'ACTION', value: ({ action }) => action },
    { title: 'TARGET', value: ({ target }) => target, most: 60 },
    {
      title: 'OUTCOME',
      value: ({ outcome }) => outcome,
      style: ({ outcome }) => (outcome === 'refused' ? 'red' : null),
    },
    { title: 'WHY', value: ({ reason, error }) => reason ?? error, most: 100 },
  ],
  empty: 'No action of a person matches.',
})
