"""What Microsoft's own Graph package does when a token's sign-in is too old for a wipe."""

import base64
import json
import os

from kiota_abstractions.authentication import BaseBearerTokenAuthenticationProvider


async def step_up(base, user_id, token, Token, refused):
    """A token whose sign-in is too old for a wipe: the package asks for another, with what the service demands, once."""
    from msgraph import GraphServiceClient
    from msgraph.generated.users.item.wipe_managed_app_registrations_by_device_tag.wipe_managed_app_registrations_by_device_tag_post_request_body import (  # noqa: E501
        WipeManagedAppRegistrationsByDeviceTagPostRequestBody,
    )
    from msgraph.graph_request_adapter import GraphRequestAdapter

    class SteppingUp(Token):
        def __init__(self, better):
            self.better, self.asked = better, []

        async def get_authorization_token(self, uri, additional_authentication_context={}):
            claims = additional_authentication_context.get("claims")
            self.asked.append(claims)
            return self.better if claims else os.environ["CORDON_STALE_TOKEN"]

    for better, held in ((token, True), (os.environ["CORDON_STALE_TOKEN"], False)):
        tokens = SteppingUp(better)
        adapter = GraphRequestAdapter(BaseBearerTokenAuthenticationProvider(tokens))
        adapter.base_url = base + "/v1.0"
        user = GraphServiceClient(request_adapter=adapter).users.by_user_id(user_id)
        [registration] = (await user.managed_app_registrations.get()).value
        assert tokens.asked == [None], "an old sign-in is enough to read"
        wipe = user.wipe_managed_app_registrations_by_device_tag.post(
            WipeManagedAppRegistrationsByDeviceTagPostRequestBody(device_tag=registration.device_tag)
        )
        if held:
            await wipe
        else:
            await refused(wipe, 401)
        assert len(tokens.asked) == 3 and tokens.asked[1] is None, tokens.asked
        demanded = json.loads(base64.b64decode(tokens.asked[2]))
        assert demanded == {"access_token": {"auth_time": {"essential": True}}}, demanded
    print("stepped up for a wipe, once")
