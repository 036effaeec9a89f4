import type { AnswerOf } from '../../../admin/contract/routes.ts'

export type Endpoint = AnswerOf<'GET /endpoints/:name'>

const STATES = { active: 'completed', learning: 'waiting', disabled: 'idle' } as const
const GLYPHS = { active: '●', learning: '◔', disabled: '○' } as const

/** Whether an endpoint takes deliveries. */
export function EndpointStatus({ status }: Pick<Endpoint, 'status'>) {
  return (
    <span className="status" data-state={STATES[status]}>
      <span aria-hidden="true">{GLYPHS[status]}</span>
      {status}
    </span>
  )
}
