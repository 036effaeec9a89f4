import { refuse } from '../errors.ts'
import { readJsonSchema } from '../incoming/json-schema.ts'
import { describeIssues, type JsonValue } from '../json.ts'

/**
 * An answer as JSON text, checked by the JSON Schema of its question; null where none is asked for.
 * Throws `invalid_request`.
 */
export function checkAnswer(
  { id, question }: { id: string; question: { answer?: unknown } | null },
  given: unknown,
): string | null {
  if (question === null || question.answer === null || question.answer === undefined) {
    if (given === undefined) return null
    throw refuse('This approval asks for no answer.', 'Leave the answer out.')
  }
  const parsed = readJsonSchema(question.answer as JsonValue).safeParse(given ?? {})
  if (parsed.success) return JSON.stringify(parsed.data)
  const fix = `See what is asked with "upshot approvals show ${id} --json".`
  const fault = given === undefined ? 'The question asks for an answer, and none was given' : 'The answer does not fit'
  throw refuse(`${fault}: ${describeIssues('answer', parsed.error)}.`, fix)
}
