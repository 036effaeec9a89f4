import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A database in which each test makes a schema of its own. */
    databaseUrl: string
  }
}

/** Starts the server of a long run, unless `TEST_DATABASE_URL` names one. */
export default async function setUpPostgres(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.TEST_DATABASE_URL
  if (given) {
    project.provide('databaseUrl', given)
    return undefined
  }
  const server = await startPostgres()
  project.provide('databaseUrl', server.url)
  return () => server.stop()
}
