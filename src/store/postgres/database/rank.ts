/** SQL for the rank of a new run of `made`: the negated priority of its workflow. */
export const RANK = '-coalesce((SELECT priority FROM workflow WHERE workflow.id = made.workflow), 0)'
