import { UpshotError } from '../errors.ts'
import { readJsonSchema } from '../incoming/json-schema.ts'
import { describeIssues, type JsonValue } from '../json.ts'

/**
 * Throws `invalid_request`, with the places, for an input that does not fit the schema of a
 * workflow. One without a schema takes any.
 */
export function requireFit({ id, input: schema }: { id: string; input?: JsonValue }, input: unknown): void {
  const parsed = readJsonSchema(schema ?? null).safeParse(input)
  if (parsed.success) return
  const faults = describeIssues('input', parsed.error)
  throw new UpshotError('invalid_request', `The input does not fit the schema of the workflow "${id}": ${faults}.`, {
    details: { fix: `See its schema with "upshot workflows show ${id} --json".` },
  })
}
