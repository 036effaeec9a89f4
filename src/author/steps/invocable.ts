import type { Trigger } from '../trigger.ts'

/** The part of a workflow that `step.invoke` needs. */
export type Invocable<On extends Trigger = Trigger, Output = unknown> = {
  kind: 'workflow'
  id: string
  on: On
  run: (context: never) => Output
}
