import { expect, test } from 'vitest'
import { toWireError } from '../../../src/sandbox/http/api-error.ts'

test.each(['EACCES', 'EROFS', 'ENOSPC'])('a disk that refuses with %s is answered 503 with its cause', (code) => {
  const error = Object.assign(new Error(`${code}: refused, open '/secret/place'`), { code })
  const wire = toWireError(error)
  expect(wire).toMatchObject({ status: 503, code: 'service_error', details: { cause: code } })
  expect(wire.message).not.toContain('/secret/place')
})
