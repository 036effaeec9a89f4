import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { hasPrometheus, promtool, WITH_PROMETHEUS } from '../watch/support/promtool.ts'

const FOLDER = join(import.meta.dirname, '../../packaging/observability')

/** Made by the operator: see "Monitoring" in docs/operating.md. */
const OF_OPERATOR = ['./project', './upshot.token', './webhook.url']

interface Compose {
  services: Record<string, { image: string; volumes: string[]; ports: string[]; command?: string | string[] }>
  volumes: Record<string, null>
}

function read<T>(file: string): T {
  const document = parseDocument(readFileSync(join(FOLDER, file), 'utf8'))
  expect([...document.errors, ...document.warnings]).toEqual([])
  return document.toJS() as T
}

const { services, volumes } = read<Compose>('compose.yml')
const mounts = Object.values(services).flatMap((service) => service.volumes.map((each) => each.split(':')))

test('what a container mounts is in the folder, a volume, or made by the operator', () => {
  for (const [source = ''] of mounts) {
    const isHere = source.startsWith('./') ? existsSync(join(FOLDER, source)) : source in volumes
    expect([source, isHere || OF_OPERATOR.includes(source)]).toEqual([source, true])
  }
})

test('each part finds the others by the names of their services, and its files where they are mounted', () => {
  const configs = ['prometheus/prometheus.yml', 'grafana/provisioning/datasources/prometheus.yml']
  const texts = configs.map((file) => readFileSync(join(FOLDER, file), 'utf8')).join('\n')
  const hosts = [...texts.matchAll(/(?:'|\/\/)([a-z]+):\d+/g)].map(([, host = '']) => host)
  expect(new Set(hosts)).toEqual(new Set(['alertmanager', 'upshot', 'prometheus']))
  for (const host of hosts) expect(Object.keys(services)).toContain(host)
  const inside = mounts.map(([, target]) => target)
  for (const [, file = ''] of texts.matchAll(/_file: (\S+)/g)) expect(inside).toContain(file)
  expect(inside).toContain('/etc/prometheus/upshot.rules.yml')
  expect(services.prometheus?.command).toContain('--enable-feature=exemplar-storage')
})

test('images have a version, and only the receiver is open to other machines', () => {
  for (const { image } of Object.values(services)) expect(image).toMatch(/:v?\d+/)
  const open = Object.values(services).flatMap(({ ports }) => ports.filter((port) => !port.startsWith('127.0.0.1:')))
  expect(open).toEqual(['4700:4700'])
})

test.skipIf(!hasPrometheus)(`promtool accepts the configuration${WITH_PROMETHEUS}`, () => {
  const { status, says } = promtool(['check', 'config', '--syntax-only', join(FOLDER, 'prometheus/prometheus.yml')])
  expect([status, says]).toEqual([0, expect.stringContaining('SUCCESS')])
})
