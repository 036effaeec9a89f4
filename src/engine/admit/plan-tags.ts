import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import { MAX_TAGS, readTags, type Tags } from '../../core/runs/annotations/tags.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { isThenable } from '../../core/thenable.ts'
import { callAuthor } from './call-author.ts'
import type { Cause } from './read-cause.ts'

/** The tags of a run before its code begins. */
export interface PlannedTags {
  known: Tags
  /** Those that its workflow gives it by its cause, and that are not in the database. */
  more: Tags
}

/** Throws where the function of the workflow throws, or returns what are no tags. */
export function planTags(
  { tags: known = {}, handler }: Pick<ClaimedRun, 'tags' | 'handler'>,
  { tags }: Pick<AnyWorkflow, 'tags'>,
  { account, ...causes }: Cause,
): PlannedTags {
  // A run of `onFailure` has those of the run that failed.
  if (tags === undefined || handler === 'onFailure') return { known, more: {} }
  const [seen] = Object.values(causes)
  const given = askAuthor(() => tags(seen as never, { account }))
  const more = Object.fromEntries(Object.entries(given).filter(([name, value]) => known[name] !== value))
  if (Object.keys({ ...known, ...more }).length > MAX_TAGS) {
    throw new Error(`its \`tags\` and those that it has are more than ${MAX_TAGS}`)
  }
  return { known, more }
}

function askAuthor(call: () => unknown): Tags {
  const given: unknown = callAuthor('its `tags`', call)
  if (isThenable(given)) throw new Error('its `tags` returned a promise; it must be synchronous')
  try {
    return readTags(given)
  } catch (error) {
    throw new Error(`its \`tags\` does not fit: ${describeError(error).message}`)
  }
}
