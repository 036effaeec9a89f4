/** URL that alerts are posted to as JSON. Null: alerts are only written to disk. */
export const alerts = { url: readUrl(process.env.ALERT_URL) }

// The value stays out of the message: the URL of a chat service contains a secret.
function readUrl(text: string | undefined): string | null {
  if (!text) return null
  const hasNoLogin = /^https?:\/\/[^/?#@]+([/?#]|$)/.test(text)
  if (hasNoLogin && URL.canParse(text)) return text
  throw new Error(
    'ALERT_URL is not valid: it should be a URL without a login, such as https://alerts.example.com/transfers.',
  )
}
