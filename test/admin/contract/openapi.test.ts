import { dereference, validate } from '@scalar/openapi-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { describeOpenapi } from '../../../src/admin/contract/openapi.ts'
import { ROUTES } from '../../../src/admin/contract/routes.ts'

const document = () => structuredClone(describeOpenapi(ROUTES, { version: '0.1.0', url: '/api/v1' }))
/** The verdict of two independent validators. */
async function isValid(document: Record<string, unknown>): Promise<boolean[]> {
  const text = JSON.stringify(document)
  return [(await new Validator().validate(JSON.parse(text))).valid, (await validate(text)).valid]
}

test('two independent validators find nothing in the OpenAPI document, and refuse a broken one', async () => {
  expect(await isValid(document())).toEqual([true, true])
  const broken = document() as { paths: Record<string, { get: { responses?: unknown } }> }
  const [first] = Object.values(broken.paths).filter(({ get }) => get)
  if (first) first.get.responses = 'none'
  expect(await isValid(broken)).toEqual([false, false])
})

test('every reference of the OpenAPI document leads somewhere', async () => {
  expect((await dereference(JSON.stringify(document()))).errors).toEqual([])
})
