import { upshotVariables } from 'upshot'

export const coverageReport = {
  /** Minute, hour, day of month, month, day of week: each Monday morning, about the week before. */
  schedule: '0 7 * * 1',
  /** IANA name of the time zone, such as Europe/Berlin. */
  timezone: 'UTC',
  /** Program that reads the database, as in a terminal. */
  command: ['npx', '--no-install', 'upshot'],
  /** It opens the database of this app, whose address and keys no other child gets. */
  environment: () => ({ ...process.env, ...upshotVariables() }),
  /** Losses that the report names one by one. */
  named: 20,
}
