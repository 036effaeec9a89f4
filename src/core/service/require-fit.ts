import { z } from 'zod'
import { UpshotError } from '../errors.ts'
import { describeIssues, type JsonValue } from '../json.ts'

/**
 * Throws `invalid_request`, with the places, for an input that does not fit the schema of a
 * workflow. One without a schema takes any.
 */
export function requireFit({ id, input: schema }: { id: string; input?: JsonValue }, input: unknown): void {
  const parsed = schema === undefined ? null : readSchema(schema).safeParse(input)
  if (parsed === null || parsed.success) return
  const faults = describeIssues('input', parsed.error)
  throw new UpshotError('invalid_request', `The input does not fit the schema of the workflow "${id}": ${faults}.`, {
    details: { fix: `See its schema with "upshot workflows show ${id} --json".` },
  })
}

/** A schema that we cannot read fits everything: the module itself looks at each input. */
function readSchema(schema: JsonValue): z.ZodType {
  try {
    return z.fromJSONSchema(schema as never)
  } catch {
    return z.unknown()
  }
}
