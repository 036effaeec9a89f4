export const coverageReport = {
  /** Minute, hour, day of month, month, day of week: each Monday morning, about the week before. */
  schedule: '0 7 * * 1',
  /** IANA name of the time zone, such as Europe/Berlin. */
  timezone: 'UTC',
  /** Program that reads the database, as in a terminal. */
  command: ['npx', '--no-install', 'upshot'],
  /** Losses that the report names one by one. */
  named: 20,
}
