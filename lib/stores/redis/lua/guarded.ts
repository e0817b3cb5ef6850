/** For scripts that answer for several locks. */
export const GUARDED = `
-- The result of \`deed\` for one lock of a call, or the text of its error. On a server that takes no writes at all, the error of
-- the command: a client configured for it then connects to the new master. The \`pcall\` of Redis gives the text of an error.
local function guarded(deed, ...)
  local is_done, answer = pcall(deed, ...)
  if is_done then return answer end
  local readonly = string.match(answer, 'READONLY.*')
  return answer, readonly and redis.error_reply(readonly)
end`;
