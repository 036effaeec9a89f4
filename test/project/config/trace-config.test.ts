import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/project/config/load-config.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

const readTraces = async (environment: Record<string, string>) =>
  (await loadConfig({ ...COLLECTOR, ...environment }, tempFolder())).traces

test('spans are sent where a collector is named, of all traces and by the name of the program', async () => {
  expect((await loadConfig({}, tempFolder())).traces).toBeNull()
  expect(await readTraces({})).toEqual({ resource: { 'service.name': 'upshot' }, ratio: 1, delayMs: 5_000 })
  const only = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/v1/traces' }
  expect((await loadConfig(only, tempFolder())).traces).not.toBeNull()
})

test.each<[Record<string, string>, number]>([
  [{ OTEL_TRACES_SAMPLER: 'always_off', OTEL_TRACES_SAMPLER_ARG: '1' }, 0],
  [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, 0],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }, 0.25],
  [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }, 0.5],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio' }, 1],
  [{ OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '0.25' }, 1],
])('%o samples %d of the traces', async (environment, ratio) => {
  expect(await readTraces(environment)).toMatchObject({ ratio })
})

test('attributes are percent-decoded, and the variable of the service name comes before its attribute', async () => {
  const attributes = 'deployment.environment=staging, team=files%20%26%20co,service.name=other,,odd,bad=100%'
  const named = { OTEL_RESOURCE_ATTRIBUTES: attributes, OTEL_BSP_SCHEDULE_DELAY: '250' }
  const resource = { 'deployment.environment': 'staging', team: 'files & co', bad: '100%' }
  expect(await readTraces(named)).toMatchObject({ resource: { ...resource, 'service.name': 'other' }, delayMs: 250 })
  const found = await readTraces({ ...named, OTEL_SERVICE_NAME: 'verifier' })
  expect(found?.resource).toEqual({ ...resource, 'service.name': 'verifier' })
})

test.each([
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  { OTEL_TRACES_SAMPLER: 'sometimes' },
  { OTEL_TRACES_SAMPLER_ARG: '1.5' },
  { OTEL_BSP_SCHEDULE_DELAY: '0' },
])('%o is refused by its name', async (environment) => {
  const [name = ''] = Object.keys(environment)
  await expect(readTraces(environment)).rejects.toThrow(name)
})
