import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction } from '../../api/use-api.ts'
import { useToasts } from '../../state/toasts.tsx'

type Settings = AnswerOf<'GET /sandbox'>['settings']

const PLANS = ['free', 'pro', 'enterprise', 'unlimited'] as const satisfies readonly Settings['plan'][]
const FORMS = ['primary', 'alternative', 'mixed'] as const satisfies readonly Settings['form'][]

/** The account's plan and the form of the service's answers. The command line has the others. */
export function SettingsCard({ settings: { plan, form } }: { settings: Settings }) {
  const toast = useToasts()
  const change = useAction('PATCH /sandbox/settings')
  const set = (settings: { plan?: Settings['plan']; form?: Settings['form'] }) =>
    change.mutate({ body: { settings } }, { onError: (error) => toast(error.message, true) })
  return (
    <section className="card padded stack form" aria-label="Account">
      <h2>Account</h2>
      <label>
        <span>
          Plan <span className="quiet">sets the rate limit</span>
        </span>
        <select value={plan} onChange={(event) => set({ plan: event.target.value as Settings['plan'] })}>
          {PLANS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label>
        Form of answers
        <select value={form} onChange={(event) => set({ form: event.target.value as Settings['form'] })}>
          {FORMS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <p className="small quiet">
        Others: <code>upshot sandbox settings</code>
      </p>
    </section>
  )
}
