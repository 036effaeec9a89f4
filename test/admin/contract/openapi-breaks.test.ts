import { expect, test } from 'vitest'
import { describeOpenapi } from '../../../src/admin/contract/openapi.ts'
import { ROUTES } from '../../../src/admin/contract/routes.ts'
import { keptFiles, listKept, readKept } from '../../upgrades/released.ts'
import { findBreaks } from './find-breaks.ts'

const current = () => JSON.parse(JSON.stringify(describeOpenapi(ROUTES, { version: '0.1.0', url: '/api/v1' })))

test.for(listKept())('nothing that a client of %s relies on is taken away or newly required', (version) => {
  expect(findBreaks(JSON.parse(readKept(keptFiles(version).api).toString()), current())).toEqual([])
})

test('an operation, field or word that goes is found, and so is one that is newly required', () => {
  const broken = current()
  delete broken.paths['/guard']
  delete broken.components.schemas.Run.properties.reason
  broken.components.schemas.Run.properties.attempt.type = 'string'
  const stop = broken.paths['/effects/stop'].post.requestBody.content['application/json'].schema
  stop.properties.kind.enum = ['all']
  stop.required.push('until')
  broken.paths['/runs'].get.parameters[0].required = true
  expect(findBreaks(current(), broken)).toEqual(
    [
      'GET /runs: "q" is newly required',
      'GET /guard is gone',
      'POST /effects/stop body.kind takes "workflow" no more',
      'POST /effects/stop body.kind takes "account" no more',
      'POST /effects/stop body.kind takes "storage" no more',
      'POST /effects/stop body.until is newly required',
      'Run.reason is gone',
      'Run.attempt has another type',
    ].map((line) => expect.stringContaining(line)),
  )
})
