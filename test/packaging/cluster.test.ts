import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ADMIN_PORTS as ALL_PORTS } from '../../src/project/config/variables.ts'

const FOLDER = join(import.meta.dirname, '../../packaging/cluster')

/** Ports of `/readyz` and `/livez`, by role. */
const { receiver, worker, scheduler } = ALL_PORTS
const ADMIN_PORTS: Record<string, number> = { receiver, worker, scheduler }
/** Default of `drain`. */
const DEFAULT_DRAIN_MS = 10_000

interface Container {
  command: string[]
  envFrom: { secretRef: { name: string } }[]
  env: { name: string; value?: string; valueFrom?: object }[]
  ports?: { name: string; containerPort: number }[]
  readinessProbe?: { exec: { command: string[] } }
  livenessProbe?: { exec: { command: string[] } }
  volumeMounts: { name: string }[]
}

interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: {
    replicas: number
    instances: number
    minSyncReplicas: number
    selector: { matchLabels: Record<string, string> } & Record<string, string>
    ports: { targetPort: string }[]
    template: {
      metadata: { labels: Record<string, string> }
      spec: {
        terminationGracePeriodSeconds: number
        securityContext: object
        containers: Container[]
        volumes: { name: string }[]
      }
    }
  }
}

function readManifests(file: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8'))
  expect([...documents].flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  return [...documents].map((document) => document.toJS() as Manifest)
}

const manifests = readManifests('upshot.yaml')
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const podOf = ({ spec }: Manifest) => spec.template.spec
const containerOf = (manifest: Manifest) => podOf(manifest).containers[0] as Container

test('each role is a deployment of at least two, with the probes of its port and time to drain', () => {
  const roles = ofKind('Deployment').map(({ spec }) => spec.template.metadata.labels.role ?? '')
  expect(roles).toEqual(Object.keys(ADMIN_PORTS))
  for (const deployment of ofKind('Deployment')) {
    const { role = '' } = deployment.spec.template.metadata.labels
    const { command, readinessProbe, livenessProbe } = containerOf(deployment)
    expect(command.slice(-2)).toEqual(['--role', role])
    expect(deployment.spec.replicas).toBeGreaterThanOrEqual(2)
    expect(deployment.spec.selector.matchLabels).toEqual(deployment.spec.template.metadata.labels)
    expect(readinessProbe?.exec.command.at(-1)).toContain(`:${ADMIN_PORTS[role]}/readyz'`)
    expect(livenessProbe?.exec.command.at(-1)).toContain(`:${ADMIN_PORTS[role]}/livez'`)
    expect(podOf(deployment).terminationGracePeriodSeconds * 1_000).toBeGreaterThan(DEFAULT_DRAIN_MS)
    expect(podOf(deployment).securityContext).toMatchObject({ runAsNonRoot: true })
  }
})

test('the database and every secret come from the secret, and the schema from a job', () => {
  const pods = [...ofKind('Deployment'), ...ofKind('Job')]
  for (const pod of pods) {
    const { envFrom, env, volumeMounts } = containerOf(pod)
    expect(envFrom).toEqual([{ secretRef: { name: 'upshot' } }])
    expect(env.map(({ name }) => name)).not.toContain('UPSHOT_DATABASE_URL')
    const volumes = podOf(pod).volumes.map(({ name }) => name)
    expect(volumes).toEqual(expect.arrayContaining(volumeMounts.map(({ name }) => name)))
  }
  expect(containerOf(ofKind('Job')[0] as Manifest).command).toEqual(['node_modules/.bin/upshot', 'db', 'migrate'])
})

test('the service reaches receivers only, at their port of deliveries', () => {
  const [service] = ofKind('Service')
  const [receiver] = ofKind('Deployment')
  expect(service?.spec.selector).toEqual(receiver?.spec.selector.matchLabels)
  expect(service?.spec.ports).toEqual([expect.objectContaining({ targetPort: 'deliveries' })])
  expect(containerOf(receiver as Manifest).ports).toEqual([{ name: 'deliveries', containerPort: 4700 }])
})

test('each budget for disruptions names the pods of a deployment', () => {
  const labels = ofKind('Deployment').map(({ spec }) => spec.selector.matchLabels)
  for (const { spec } of ofKind('PodDisruptionBudget')) expect(labels).toContainEqual(spec.selector.matchLabels)
})

test('PostgreSQL answers a commit when a standby has it', () => {
  const [cluster] = readManifests('postgres.yaml')
  expect(cluster).toMatchObject({ kind: 'Cluster', spec: { instances: 3, minSyncReplicas: 1 } })
})

test('the compose file starts the processes after the migration, and gives them time to drain', () => {
  const { services } = parse(readFileSync(join(FOLDER, 'compose.yml'), 'utf8'), { merge: true })
  const { postgres, migrate, ...processes } = services
  expect(postgres.image).toMatch(/^postgres:1[5-9]/)
  expect(migrate.command.slice(-2)).toEqual(['db', 'migrate'])
  expect(migrate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
  expect(Object.keys(processes)).toEqual(Object.keys(ADMIN_PORTS))
  for (const [role, service] of Object.entries<typeof migrate>(processes)) {
    expect(service.command.slice(-2)).toEqual(['--role', role])
    expect(service.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } })
    expect(Number.parseInt(service.stop_grace_period, 10) * 1_000).toBeGreaterThan(DEFAULT_DRAIN_MS)
    expect(service.environment.UPSHOT_DATABASE_URL).toContain('@postgres/upshot?')
  }
})

test('the base for overlays names every manifest beside it, and the image that they have', () => {
  const base = parse(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8'))
  const others = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  expect(base.resources).toEqual(others.toSorted())
  const used = readFileSync(join(FOLDER, 'upshot.yaml'), 'utf8').match(/(?<=image: ).+/g) ?? []
  const [{ name, newTag }] = base.images
  expect(new Set(used)).toEqual(new Set([`${name}:${newTag}`]))
})
