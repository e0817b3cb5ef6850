/** For scripts that answer for several locks. */
export const GUARDED = `
-- The result of \`deed\` for one lock of a call, or the text of its error. On a server that takes no writes at all, the error of
-- the command: a client configured for it then connects to the new master.
local function guarded(deed, ...)
  local is_done, answer = pcall(deed, ...)
  if is_done then return answer end
  local text = type(answer) == 'table' and answer.err or tostring(answer)
  local readonly = string.match(text, 'READONLY.*')
  return text, readonly and redis.error_reply(readonly)
end`;
