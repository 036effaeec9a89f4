export const inventory = {
  /** Minute, hour, day of the month, month, day of the week. */
  schedule: '0 3 * * *',
  /** IANA name, such as Europe/Berlin. */
  timezone: 'UTC',
}
